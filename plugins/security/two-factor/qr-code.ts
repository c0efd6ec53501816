/** The QR code of a secret as one path, which pages and scripts draw without an image: the Content-Security-Policy stays strict. */

/** A picture of dark squares. */
export interface QrCode {
  /** Width and height in units of the path. */
  size: number
  /** `d` of an SVG path. */
  path: string
}

// Light squares around the code, which readers need (ISO/IEC 18004).
const border = 4

/** Undefined where the package `uqr` is missing: users then type the key. */
export async function drawQrPath(text: string): Promise<QrCode | undefined> {
  const library = await import('uqr').catch(() => undefined)
  if (!library) return undefined
  const { data, size } = library.encode(text, { border })
  let path = ''
  data.forEach((row, y) => row.forEach((dark, x) => dark && (path += `M${x} ${y}h1v1h-1z`)))
  return { size, path }
}
