/* Reads, runs, costs and predicts a module through the C API: embed_c FILE */
#include <stdio.h>
#include <stdlib.h>

#include "shoal/shoal.h"

static void Check(shoal_error *error) {
  if (error == NULL) return;
  fputs(shoal_error_text(error), stderr);
  exit(1);
}

int main(int argc, char **argv) {
  shoal_module *module;
  Check(shoal_module_read(argc > 1 ? argv[1] : "module.hlo", NULL, &module));

  shoal_executable *executable;
  shoal_buffers *arguments;
  shoal_results *results;
  shoal_string *text;
  Check(shoal_compile(module, NULL, &executable));
  Check(shoal_arguments_generate(executable, SHOAL_INPUTS_RANDOM, 0, &arguments));
  Check(shoal_execute_buffers(executable, arguments, NULL, &results));
  Check(shoal_results_text(results, &text));
  fputs(shoal_string_data(text), stdout);

  shoal_facts *facts;
  shoal_totals totals = SHOAL_INIT(shoal_totals);
  Check(shoal_facts_new(module, NULL, &facts));
  Check(shoal_facts_totals(facts, &totals));
  printf("%g flops, %g bytes received from other devices\n", totals.flops, totals.wire_bytes);

  shoal_machine *machine;
  shoal_prediction *prediction;
  shoal_prediction_info step = SHOAL_INIT(shoal_prediction_info);
  Check(shoal_machine_load("h100x8", &machine));
  Check(shoal_predict(facts, machine, &prediction));
  Check(shoal_prediction_get(prediction, &step));
  printf("h100x8: %.2f us per step\n", step.step_seconds * 1e6);

  shoal_prediction_free(prediction), shoal_machine_free(machine), shoal_facts_free(facts), shoal_string_free(text);
  shoal_results_free(results), shoal_buffers_free(arguments), shoal_executable_free(executable), shoal_module_free(module);
  return 0;
}
