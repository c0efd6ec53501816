/** The browser that asked, in words: whoever reads the message sees whether it was theirs. */

const browsers: readonly [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
const systems: readonly [RegExp, string][] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
]

/** `Firefox, Linux`; undefined for what nobody knows. */
export function deviceOf(userAgent = ''): string | undefined {
  const find = (names: readonly [RegExp, string][]): string | undefined => names.find(([pattern]) => pattern.test(userAgent))?.[1]
  const found = [find(browsers), find(systems)].filter(Boolean)
  return found.length > 0 ? found.join(', ') : undefined
}
