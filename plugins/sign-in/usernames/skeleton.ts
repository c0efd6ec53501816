/** Names that look alike have one skeleton (UTS #39 section 4): compared instead of the names, and never shown. */

// From the table of confusable characters: what is read as a letter or digit of ASCII in small letters.
const lookalikes: Readonly<Record<string, string>> = {
  a: 'аɑα',
  b: 'Ьƅ',
  c: 'сϲᴄ',
  d: 'ԁ',
  e: 'еҽ',
  g: 'ɡց',
  h: 'һհ',
  j: 'јϳ',
  k: 'κк',
  l: '1|iіıɩιӏ',
  n: 'ոռ',
  o: 'оοօσ0೦๐',
  p: 'рρ',
  q: 'ԛգ',
  r: 'гᴦ',
  s: 'ѕꜱ',
  t: 'тτ',
  u: 'υսᴜ',
  v: 'νѵ',
  w: 'ԝѡɯ',
  x: 'хχ',
  y: 'уүγ',
  z: 'ᴢ',
}
const table = new Map(Object.entries(lookalikes).flatMap(([letter, all]) => Array.from(all, (one) => [one, letter] as const)))

/** The skeleton of a name in small letters. Points, dashes and accents are read over. */
export function skeletonOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').replace(/[._-]/g, '')
  return Array.from(plain, (one) => table.get(one) ?? one)
    .join('')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
}
