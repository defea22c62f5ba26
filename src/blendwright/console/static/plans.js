import { h } from "./dom.js";
export function plans() { return { element: h("div", { class: "page" }, "…") }; }
