/** Why an operation cannot become a tool. The message continues a sentence: "its body is application/xml". */
export class UnsupportedError extends Error {
  override readonly name = 'UnsupportedError';
}
