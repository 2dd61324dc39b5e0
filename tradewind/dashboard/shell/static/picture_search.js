// Search by picture: sends a picture as soon as it is chosen or pasted, made smaller if it is large.
const LARGE = 1024 * 1024;
const LONGEST_SIDE = 1600;

export function preparePictureSearch(root) {
  const form = root.querySelector("form[data-picture-search]");
  if (form === null || "prepared" in form.dataset) return;
  form.dataset.prepared = "";
  const input = form.querySelector("input[type=file]");
  form.querySelector("[data-paste-hint]").hidden = false;
  input.addEventListener("change", () => send(form, input, input.files[0]));
  document.addEventListener("paste", (event) => {
    const file = [...(event.clipboardData?.files ?? [])].find(({ type }) => type.startsWith("image/"));
    if (file === undefined) return;
    event.preventDefault();
    send(form, input, file);
  });
}

async function send(form, input, file) {
  if (file === undefined || "submitted" in form.dataset) return;
  const smaller = file.size > LARGE ? await shrink(file) : file;
  const chosen = new DataTransfer();
  chosen.items.add(smaller);
  input.files = chosen.files;
  form.requestSubmit();
}

// Returns the picture as a JPEG of at most 1600 pixels a side; the file itself if it cannot be read.
async function shrink(file) {
  try {
    const picture = await createImageBitmap(file);
    const scale = Math.min(1, LONGEST_SIDE / Math.max(picture.width, picture.height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(picture.width * scale));
    canvas.height = Math.max(1, Math.round(picture.height * scale));
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.85));
    return blob === null ? file : new File([blob], "picture.jpg", { type: "image/jpeg" });
  } catch {
    return file;
  }
}
