// The entry point: opens the page's data and builds the frame, or shows an error.
import { DataError, PageData } from "./data";
import { clear, h } from "./dom";
import { Frame } from "./frame";
import { Model } from "./model";

async function main(): Promise<void> {
  const overview = document.getElementById("overview")!;
  const app = document.getElementById("app")!;
  try {
    const data = PageData.open(document.getElementById("shoal-data")!.textContent ?? "");
    const models = [await Model.load(data, "a.")];
    if (data.has("b.about")) models.push(await Model.load(data, "b."));
    const frame = new Frame(app, models, overview);
    await frame.start();
    (window as unknown as { shoal: object }).shoal = { state: () => frame.state(), ready: true };
  } catch (error) {
    clear(app);
    const message = error instanceof DataError ? `${error.message}. The overview below can still be read.` : `This page's script failed: ${String(error)}`;
    app.before(h("p", { class: "failure", id: "failure", role: "alert" }, message));
  }
}

void main();
