/** The theme as checked values: whatever a host wrote, only colours computed here get into the style. */
import type { Theme } from 'authkernel/kernel'
import { black, type Color, contrastOf, makeReadable, mixColors, parseColor, textOn, toHex } from './color.ts'
import { type Html, markup } from './html.ts'
import { type Picture, readPicture, changeColor } from './picture.ts'

/** Colours that follow from a theme, in one scheme. */
export interface Palette {
  brand: string
  brandHover: string
  /** Edge of a filled button: visible even when the brand colour is the colour of the card. */
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
  /** Custom properties for corners, font and room; '' for those of the sheet. */
  tokens: string
}
/** A logo as URLs of images for a light and for a dark ground. */
export interface Logo {
  url: string
  dark: string
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
  const look = known.get(origin) ?? resolveLook(theme, origin)
  if (known.size >= maxOrigins) known.clear()
  known.set(origin, look)
  return look
}

function resolveLook(theme: Theme, origin: string | undefined): Look {
  const brand = parseColor(theme.brandColor)
  const text = parseColor(theme.buttonText)
  const scheme = theme.colorScheme === 'dark' || theme.colorScheme === 'light' ? theme.colorScheme : 'auto'
  const own = theme.dark ?? {}
  const darkBrand = parseColor(own.brandColor) ?? brand
  const logo = createLogo(readPicture(theme.logo, origin))
  const darkLogo = createLogo(readPicture(own.logo, origin))
  return {
    scheme,
    light: createPalette(brand ?? ink, text, surfaces.light, brand ?? blue),
    dark: createPalette(darkBrand ?? paper, parseColor(own.buttonText) ?? text, surfaces.dark, darkBrand ?? blue),
    logo: darkLogo ? { url: logo?.url ?? darkLogo.url, dark: darkLogo.dark } : logo,
    hued: brand !== undefined && isHued(brand),
    tokens: createTokens(theme),
  }
}

// Letters, digits, spaces, quotes and commas: nothing that could end a declaration of CSS.
const fontFamilies = /^[\p{L}\d\s"',_-]{1,200}$/u
const isWithin = (value: unknown, least: number, most: number): value is number =>
  typeof value === 'number' && value >= least && value <= most

function createTokens({ radius, font, spacing }: Theme): string {
  return [
    isWithin(radius, 0, 24) && `--round:${radius / 16}rem;`,
    isFont(font) && `--font:${font};`,
    isWithin(spacing, 0.6, 1.6) && `--space:${spacing};`,
  ]
    .filter(Boolean)
    .join('')
}

// An odd quote would swallow the rest of the sheet.
function isFont(font: unknown): font is string {
  return typeof font === 'string' && fontFamilies.test(font) && [`"`, `'`].every((quote) => font.split(quote).length % 2 === 1)
}

/** Whether a theme names corners, a font, room or colours of the dark scheme that are ignored. */
export function hasUnusableToken({ radius, font, spacing, dark }: Theme): boolean {
  const colors = [dark?.brandColor, dark?.buttonText]
  return (
    (radius !== undefined && !isWithin(radius, 0, 24)) ||
    (font !== undefined && !isFont(font)) ||
    (spacing !== undefined && !isWithin(spacing, 0.6, 1.6)) ||
    colors.some((color) => color !== undefined && !parseColor(color))
  )
}

/** A drawing in one colour keeps it where it can be seen, and is moved towards black or white as little as needed elsewhere. */
export function createLogo(picture: Picture | undefined): Logo | undefined {
  if (!picture) return undefined
  const on = (surface: Color): string => {
    const paint = picture.kind === 'shape' ? (parseColor(picture.color) ?? black) : undefined
    if (!paint || contrastOf(paint, surface) >= 3) return picture.url
    return changeColor(picture, toHex(makeReadable(paint, surface, 3)))
  }
  return { url: on(surfaces.light), dark: on(surfaces.dark) }
}

/** Palette of a button in another colour, such as the colour of a provider. */
export function buttonPalette(color: string, surface: Color): Palette {
  const brand = parseColor(color) ?? ink
  return createPalette(brand, undefined, surface, brand)
}

/** Not black, white or grey. */
export function isHued(color: Color): boolean {
  return Math.max(...color) - Math.min(...color) > 24
}

function createPalette(brand: Color, text: Color | undefined, surface: Color, accent: Color): Palette {
  const buttonText = textOn(brand, text)
  // Away from the text, so that contrast grows.
  const hover = mixColors(
    brand,
    contrastOf(buttonText, [255, 255, 255]) < contrastOf(buttonText, [0, 0, 0]) ? [0, 0, 0] : [255, 255, 255],
    0.14,
  )
  return {
    brand: toHex(brand),
    brandHover: toHex(hover),
    brandEdge: toHex(contrastOf(brand, surface) < 1.5 ? makeReadable(brand, surface, 3) : brand),
    buttonText: toHex(buttonText),
    focus: toHex(makeReadable(accent, surface, 3.5)),
  }
}

/** The logo of the host, as an image with the name of the site. A drawing in one colour has a second form where that colour cannot be seen. */
export function drawLogo({ url, dark }: Logo, { look, site }: { look: Look; site: string }): Html {
  const image = markup`<img class="logo" src="${look.scheme === 'dark' ? dark : url}" alt="${site}">`
  if (dark === url || look.scheme !== 'auto') return image
  return markup`<picture><source media="(prefers-color-scheme:dark)" srcset="${dark}">${image}</picture>`
}
