// Loaded by every page. The dashboard works without it; it adds live updates and conveniences.
import { listenForApprovals } from "./approvals.js";
import { openRejected } from "./dialogs.js";
import { offerDivisions } from "./divisions.js";
import { listen } from "./live.js";
import { closeMenus } from "./menu.js";
import { prepare } from "./prepare.js";
import { listenForShortcuts } from "./shortcuts.js";
import { scrollToCurrent } from "./strips.js";
import { submitOnce } from "./submit_once.js";

prepare(document);
offerDivisions(document);
openRejected();
closeMenus();
listenForShortcuts();
listenForApprovals();
submitOnce();
scrollToCurrent(document);
if ("signedIn" in document.body.dataset) listen();
