/** The parts of a body in one piece. */
export function joined(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const [first] = chunks
  // A part of a larger buffer would keep all of it.
  if (first && chunks.length === 1 && first.buffer.byteLength === size) return first as Uint8Array<ArrayBuffer>
  const whole = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.byteLength
  }
  return whole
}
