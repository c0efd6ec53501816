/** The QR code of a secret, drawn here: no other server sees it. */
import type { Content, PageTools } from 'authkernel/kernel'

/** Nothing where the package `uqr` is missing: the text key is on the page as well. */
export async function drawQr({ html, say }: PageTools, text: string): Promise<Content> {
  const library = await import('uqr').catch(() => undefined)
  if (!library) return undefined
  const { data, size } = library.encode(text, { border: 4 })
  let path = ''
  data.forEach((row, y) => row.forEach((dark, x) => dark && (path += `M${x} ${y}h1v1h-1z`)))
  return html`<svg
    class="qr"
    viewBox="0 0 ${size} ${size}"
    width="200"
    height="200"
    role="img"
    aria-label="${say('two-factor.qr')}"
    shape-rendering="crispEdges"
  >
    <rect width="100%" height="100%" fill="#fff"></rect>
    <path d="${path}" fill="#000"></path>
  </svg>`
}
