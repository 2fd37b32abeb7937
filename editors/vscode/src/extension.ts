// Starts `shoal lsp` and adds the commands of the extension.
import { execFile } from "node:child_process";
import * as os from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

const program = (): string => vscode.workspace.getConfiguration("shoal").get("path", "shoal");

function run(args: string[]): Promise<string> {
  return new Promise((resolve, reject) =>
    execFile(program(), args, { maxBuffer: 1 << 28 }, (error, stdout, stderr) =>
      error ? reject(new Error(stderr || error.message)) : resolve(stdout)));
}

function activeFile(): string | undefined {
  const document = vscode.window.activeTextEditor?.document;
  return document?.languageId === "hlo" ? document.uri.fsPath : undefined;
}

async function openReport(files: string[]): Promise<void> {
  const machine = vscode.workspace.getConfiguration("shoal").get("machine", "");
  const out = path.join(os.tmpdir(), `shoal-${process.pid}-${Date.now()}.html`);
  await run(["report", ...files, ...(machine ? [`--on=${machine}`] : []), "-o", out]);
  const panel = vscode.window.createWebviewPanel("shoal", `shoal: ${path.basename(files[0]!)}`, vscode.ViewColumn.Beside,
    { enableScripts: true, retainContextWhenHidden: true });
  const page = await vscode.workspace.fs.readFile(vscode.Uri.file(out));
  panel.webview.html = new TextDecoder().decode(page);
}

async function compareWith(): Promise<void> {
  const file = activeFile();
  if (!file) return;
  const [other] = (await vscode.window.showOpenDialog({ title: "Compare with", canSelectMany: false })) ?? [];
  if (other) await openReport([file, other.fsPath]);
}

async function showOnMachine(): Promise<void> {
  const known = JSON.parse(await run(["machines", "--json"])) as { machines: { name: string; description?: string }[] };
  const items = known.machines.map((machine) => ({ label: machine.name, description: machine.description ?? "" }));
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: "The machine for predicted times" });
  if (chosen) await vscode.workspace.getConfiguration("shoal").update("machine", chosen.label);
}

const reported = (action: () => Promise<void>) => async (): Promise<void> => {
  try {
    await action();
  } catch (error) {
    void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
  }
};

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const settings = vscode.workspace.getConfiguration("shoal");
  client = new LanguageClient("shoal", "shoal", { command: program(), args: ["lsp"] }, {
    documentSelector: [{ language: "hlo" }, ...(settings.get("mlir", false) ? [{ language: "mlir" }] : [])],
    synchronize: { configurationSection: "shoal" },
    initializationOptions: settings,
  });
  context.subscriptions.push(
    vscode.commands.registerCommand("shoal.openReport", reported(async () => {
      const file = activeFile();
      if (file) await openReport([file]);
    })),
    vscode.commands.registerCommand("shoal.compareWith", reported(compareWith)),
    vscode.commands.registerCommand("shoal.showOnMachine", reported(showOnMachine)));
  await reported(async () => client!.start())();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
