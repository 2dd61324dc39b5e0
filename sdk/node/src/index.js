// What the package exports.
export { NotGenuine, TOLERANCE_SECONDS, sign, verify } from "./verify.js";
