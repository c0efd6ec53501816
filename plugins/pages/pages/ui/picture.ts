/** Logos without a request to another site: inline SVG, `data:` URLs and images of the own origin; others are not shown. */

/** A picture as a URL for `<img>`, or a one-colour shape for a CSS mask, which takes the colour of the text around it. */
export interface Picture {
  kind: 'image' | 'shape'
  url: string
  /** What a shape is painted with, as it is written there; undefined: with nothing in particular, which is black. */
  color?: string | undefined
}

// GHSA-9h6g-pr28-7cqp: what is parsed is bounded; and a page of a sign-in should not weigh megabytes.
const maxLength = 65_536

/** What can be shown of a logo; undefined for foreign and malformed ones. `origin` is the own one, undefined when unknown. */
export function readPicture(logo: unknown, origin: string | undefined): Picture | undefined {
  if (typeof logo !== 'string' || logo.length > maxLength) return undefined
  const text = logo.trim()
  if (/^(<\?xml[^>]*>\s*)?<svg[\s>]/i.test(text)) return readDrawing(text)
  if (/^data:/i.test(text)) return fromData(text)
  if (!/^[\w./]/.test(text) || origin === undefined || !URL.canParse(text, origin)) return undefined
  const url = new URL(text, `${origin}/`)
  // blob: URLs have the origin of the page that made them.
  return url.origin === origin && /^https?:$/.test(url.protocol) ? { kind: 'image', url: url.pathname + url.search } : undefined
}

/** The same shape in another colour, a hex one. */
export function changeColor({ url, color }: Picture, wanted: string): string {
  const markup = decodeURIComponent(url.slice('data:image/svg+xml,'.length))
  if (color !== undefined && color !== 'currentcolor') {
    const written = color.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    return toUrl(markup.replace(new RegExp(`((?:fill|stroke)\\s*[=:]\\s*["']?\\s*)${written}`, 'gi'), `$1${wanted}`))
  }
  // Painted with the colour of the text, or with nothing: black in an image.
  return toUrl(markup.replace(/<svg(?![^>]*\sfill\s*=)/i, `<svg fill="${wanted}"`).replace(/<svg/i, `<svg color="${wanted}"`))
}

function toUrl(markup: string): string {
  // encodeURIComponent leaves these; they would end a CSS url().
  return `data:image/svg+xml,${encodeURIComponent(markup).replace(/['()]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)}`
}

function fromData(text: string): Picture | undefined {
  const [, type = '', base64 = '', data = ''] = /^data:(image\/[a-z0-9.+-]+)(?:;(?:charset=)?utf-?8)?(;base64)?,(.*)$/is.exec(text) ?? []
  if (type === '') return undefined
  const markup = type.toLowerCase() === 'image/svg+xml' ? decodeData(data, base64 !== '') : undefined
  if (markup !== undefined) return readDrawing(markup.trim())
  return /["'\\\s<>()]/.test(text) ? undefined : { kind: 'image', url: text }
}

// As an image, never as markup of the page: scripts inside it do not run, and nothing inside it can reach the form around it.
function readDrawing(svg: string): Picture | undefined {
  const markup = /\sxmlns\s*=/.test(svg) ? svg : svg.replace(/<svg/i, '<svg xmlns="http://www.w3.org/2000/svg"')
  try {
    const painted = paintsOf(markup)
    return painted && painted.length < 2 ? { kind: 'shape', url: toUrl(markup), color: painted[0] } : { kind: 'image', url: toUrl(markup) }
  } catch {
    // A lone surrogate: not text.
    return undefined
  }
}

/** The colours that a drawing paints with; undefined when that cannot be told by reading its attributes. */
function paintsOf(svg: string): string[] | undefined {
  if (/<(style|image|use|linearGradient|radialGradient|pattern|foreignObject)\b/i.test(svg)) return undefined
  const painted = [...svg.matchAll(/\b(?:fill|stroke)\s{0,9}[=:]\s{0,9}["']?\s{0,9}([^"';\s>]{1,99})/gi)].map(([, value]) =>
    (value ?? '').toLowerCase(),
  )
  return [...new Set(painted.filter((value) => !/^(none|transparent|inherit)$/.test(value)))]
}

function decodeData(data: string, base64: boolean): string | undefined {
  try {
    return base64 ? new TextDecoder().decode(Uint8Array.from(atob(data), (char) => char.charCodeAt(0))) : decodeURIComponent(data)
  } catch {
    return undefined
  }
}
