// What every page loads. All of it is a comfort: without it, everything essential still works.
import { dress } from "./dress.js";
import { listen } from "./live.js";
import { closeMenus } from "./menu.js";
import { showHere } from "./strips.js";

dress(document);
closeMenus();
showHere(document);
if ("signedIn" in document.body.dataset) listen();
