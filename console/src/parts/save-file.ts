/** Offers a text as a file to save, as a click on a download link does. */
export function saveFile(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the file after this handler.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
