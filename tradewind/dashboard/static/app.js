// What every page loads. All of it is a comfort: without it, everything essential still works.
import { dress } from "./dress.js";
import { listen } from "./live.js";
import { closeMenus } from "./menu.js";

dress(document);
closeMenus();
if ("signedIn" in document.body.dataset) listen();
