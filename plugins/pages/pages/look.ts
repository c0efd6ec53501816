/** The theme as checked values: whatever a host wrote, only colours computed here get into the style. */
import type { OAuthProviderButtonStyles, Theme } from 'authkernel/kernel'
import { black, type Color, contrast, mix, parseColor, readable, textOn, toHex } from './color.ts'
import { type Picture, picture, recoloured } from './picture.ts'

/** Colours that follow from a theme, in one scheme. */
export interface Palette {
  brand: string
  brandHover: string
  /** Edge of a filled button: visible even when the brand colour is that of the card. */
  brandEdge: string
  buttonText: string
  focus: string
}
/** Everything about the look of a page that a theme decides. */
export interface Look {
  scheme: 'auto' | 'dark' | 'light'
  light: Palette
  dark: Palette
  logo: Logo | undefined
  /** The brand has a colour: not black, white or grey. */
  hued: boolean
}
/** A logo as URLs of images for a light and for a dark ground. */
export interface Logo {
  url: string
  dark: string
}
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

/** Surfaces of the two schemes; style.ts paints with them. */
export const surfaces: { readonly light: Color; readonly dark: Color } = { light: [255, 255, 255], dark: [20, 20, 23] }
// Without a brand colour buttons are ink on paper, and the reverse in the dark.
const ink: Color = [24, 24, 27]
const paper: Color = [250, 250, 250]
const blue: Color = [37, 99, 235]

const looks = new WeakMap<Theme, Map<string | undefined, Look>>()
const maxOrigins = 50

/** Checks a theme, once for each origin: `origin` is the own one, for logos given as a path. */
export function createLook(theme: Theme, origin: string | undefined): Look {
  const known = looks.get(theme) ?? new Map<string | undefined, Look>()
  looks.set(theme, known)
  const look = known.get(origin) ?? check(theme, origin)
  if (known.size >= maxOrigins) known.clear()
  known.set(origin, look)
  return look
}

function check(theme: Theme, origin: string | undefined): Look {
  const brand = parseColor(theme.brandColor)
  const text = parseColor(theme.buttonText)
  const scheme = theme.colorScheme === 'dark' || theme.colorScheme === 'light' ? theme.colorScheme : 'auto'
  return {
    scheme,
    light: palette(brand ?? ink, text, surfaces.light, brand ?? blue),
    dark: palette(brand ?? paper, text, surfaces.dark, brand ?? blue),
    logo: createLogo(picture(theme.logo, origin)),
    hued: brand !== undefined && hued(brand),
  }
}

/** A drawing in one colour keeps it where it can be seen, and is moved towards black or white as little as needed elsewhere. */
export function createLogo(drawn: Picture | undefined): Logo | undefined {
  if (!drawn) return undefined
  const on = (surface: Color): string => {
    const painted = drawn.kind === 'shape' ? (parseColor(drawn.color) ?? black) : undefined
    if (!painted || contrast(painted, surface) >= 3) return drawn.url
    return recoloured(drawn, toHex(readable(painted, surface, 3)))
  }
  return { url: on(surfaces.light), dark: on(surfaces.dark) }
}

/** Checks the style of a provider; `bg` and `text` count when there is no `brandColor` (row 336). */
export function createMark(style: OAuthProviderButtonStyles | undefined, origin: string | undefined): Mark {
  const given = [style?.brandColor, style?.bg, style?.text].map(parseColor).filter((color) => color !== undefined)
  // Black, white and grey brands look best in the colour of the text, in either scheme.
  const brand = given.find(hued) ?? given[0]
  const tint = brand && hued(brand) ? brand : undefined
  return {
    picture: picture(style?.logo, origin),
    brand: brand && toHex(brand),
    light: tint && toHex(readable(tint, surfaces.light, 3)),
    dark: tint && toHex(readable(tint, surfaces.dark, 3)),
    onBrand: brand && toHex(textOn(brand)),
  }
}

/** Palette of a button in the colour of a provider. */
export function filled(color: string, surface: Color): Palette {
  const brand = parseColor(color) ?? ink
  return palette(brand, undefined, surface, brand)
}

function hued(color: Color): boolean {
  return Math.max(...color) - Math.min(...color) > 24
}

function palette(brand: Color, text: Color | undefined, surface: Color, accent: Color): Palette {
  const buttonText = textOn(brand, text)
  // Away from the text, so that contrast grows.
  const hover = mix(brand, contrast(buttonText, [255, 255, 255]) < contrast(buttonText, [0, 0, 0]) ? [0, 0, 0] : [255, 255, 255], 0.14)
  return {
    brand: toHex(brand),
    brandHover: toHex(hover),
    brandEdge: toHex(contrast(brand, surface) < 1.5 ? readable(brand, surface, 3) : brand),
    buttonText: toHex(buttonText),
    focus: toHex(readable(accent, surface, 3.5)),
  }
}
