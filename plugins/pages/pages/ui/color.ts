/** Colours that can be read: contrast as WCAG 2.2 computes it. */

/** Red, green and blue, 0 to 255. */
export type Color = readonly [number, number, number]

export const white: Color = [255, 255, 255]
export const black: Color = [0, 0, 0]

/** A CSS hex colour with 3, 4, 6 or 8 digits (`#` may be missing; opacity is ignored); undefined for anything else, so that nothing else gets into the style. */
export function parseColor(value: unknown): Color | undefined {
  const digits = typeof value === 'string' ? /^#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.exec(value.trim())?.[1] : undefined
  if (digits === undefined) return undefined
  const step = digits.length < 6 ? 1 : 2
  const channel = (at: number): number => Number.parseInt(digits.slice(at * step, (at + 1) * step).padEnd(2, digits[at * step]), 16)
  return [channel(0), channel(1), channel(2)]
}

/** `#rrggbb`. */
export function toHex(color: Color): string {
  return `#${color.map((channel) => Math.round(channel).toString(16).padStart(2, '0')).join('')}`
}

/** 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrastOf(a: Color, b: Color): number {
  const [high, low] = [luminanceOf(a), luminanceOf(b)].sort((x, y) => y - x) as [number, number]
  return (high + 0.05) / (low + 0.05)
}

/** Part `share` (0 to 1) of `b` in `a`. */
export function mixColors(a: Color, b: Color, share: number): Color {
  // `map` of three numbers gives three numbers, which its type does not say.
  return [0, 1, 2].map((i) => Math.round((a[i] as number) * (1 - share) + (b[i] as number) * share)) as unknown as Color
}

/** `color`, moved towards black or white as little as needed to reach `ratio` on `surface`. */
export function makeReadable(color: Color, surface: Color, ratio: number): Color {
  const end = contrastOf(white, surface) > contrastOf(black, surface) ? white : black
  for (let share = 0; share < 1; share += 0.05) {
    const candidate = mixColors(color, end, share)
    if (contrastOf(candidate, surface) >= ratio) return candidate
  }
  return end
}

/** Colour of text on `fill`: the wanted one when it reaches AA (4.5), else the better of white and near-black. */
export function textOn(fill: Color, wanted?: Color): Color {
  if (wanted && contrastOf(wanted, fill) >= 4.5) return wanted
  const ink: Color = [24, 24, 27]
  // One of white and black always reaches 4.5 (4.58 at the worst); near-black looks better where it is enough.
  if (contrastOf(white, fill) >= 4.5) return white
  return contrastOf(ink, fill) >= 4.5 ? ink : black
}

function luminanceOf(color: Color): number {
  const [r, g, b] = color.map((channel) => {
    const share = channel / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
