/** The host's logo, as an image with the name of the site. */
import { type Html, markup } from './html.ts'
import type { Logo, Look } from './look.ts'

/** The logo. A drawing in one colour has a second form where that colour cannot be seen. */
export function drawLogo({ url, dark }: Logo, { look, site }: { look: Look; site: string }): Html {
  const image = markup`<img class="logo" src="${look.scheme === 'dark' ? dark : url}" alt="${site}">`
  if (dark === url || look.scheme !== 'auto') return image
  return markup`<picture><source media="(prefers-color-scheme:dark)" srcset="${dark}">${image}</picture>`
}
