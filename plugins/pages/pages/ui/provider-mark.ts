/** What a provider looks like on its button: a mark, and colours for the two schemes. */
import type { OAuthProviderButtonStyles } from 'authkernel/kernel'
import { makeReadable, parseColor, textOn, toHex } from './color.ts'
import { type Html, markup } from './html.ts'
import { buttonPalette, isHued, surfaces } from './look.ts'
import { type Picture, readPicture } from './picture.ts'
import { buttonProperties } from './style.ts'

/** Colours of a provider's mark. */
export interface Mark {
  picture: Picture | undefined
  /** As the provider gave it. */
  brand: string | undefined
  /** Readable on the button in either scheme; undefined: the colour of the text. */
  light: string | undefined
  dark: string | undefined
  /** Text on `brand`. */
  onBrand: string | undefined
}
/** One provider on a page. */
interface MarkedItem {
  mark: Mark
  index: number
  inputs: boolean
}

/** Checks the style of a provider; `bg` and `text` count when there is no `brandColor`. */
export function createMark(style: OAuthProviderButtonStyles | undefined, origin: string | undefined): Mark {
  const candidates = [style?.brandColor, style?.bg, style?.text].map(parseColor).filter((color) => color !== undefined)
  // Black, white and grey brands look best in the colour of the text, in either scheme.
  const brand = candidates.find(isHued) ?? candidates[0]
  const tint = brand && isHued(brand) ? brand : undefined
  return {
    picture: readPicture(style?.logo, origin),
    brand: brand && toHex(brand),
    light: tint && toHex(makeReadable(tint, surfaces.light, 3)),
    dark: tint && toHex(makeReadable(tint, surfaces.dark, 3)),
    onBrand: brand && toHex(textOn(brand)),
  }
}

/** The mark on a button. */
export function drawMark({ picture }: Mark, name: string): Html {
  if (picture?.kind === 'shape') return markup`<span class="mark shape" aria-hidden="true"></span>`
  if (picture) return markup`<span class="mark" aria-hidden="true"><img src="${picture.url}" alt=""></span>`
  return markup`<span class="mark letter" aria-hidden="true">${[...name][0]?.toUpperCase()}</span>`
}

/** Custom properties of one provider: hex colours and an encoded data: URL, nothing as the host wrote it. */
export function coloursOf({ mark, index, inputs }: MarkedItem, primary: boolean, scheme: 'light' | 'dark'): string {
  const rules = [
    mark.brand && `--provider-brand-color:${mark.brand};--on-brand:${mark.onBrand};`,
    mark[scheme] && `--mark:${mark[scheme]};`,
    mark.picture?.kind === 'shape' && `--shape:url("${mark.picture.url}");`,
    primary && !inputs && mark.brand && buttonProperties(buttonPalette(mark.brand, surfaces[scheme])),
  ].filter(Boolean)
  return rules.length > 0 ? `.p${index}{${rules.join('')}}` : ''
}
