/** The parts of the pages that stand alone: escaping, colours, pictures, languages, the policy. */
import { describe, expect, it } from 'vitest'
import { black, contrastOf, makeReadable, parseColor, textOn, toHex, white } from '../../plugins/pages/pages/ui/color.ts'
import { createLook, surfaces } from '../../plugins/pages/pages/ui/look.ts'
import { createMark } from '../../plugins/pages/pages/ui/provider-mark.ts'
import { negotiateLanguage } from '../../src/http/language.ts'
import { drawAttributes, markup, scriptText, styleText } from '../../plugins/pages/pages/ui/html.ts'
import { createPageLanguages } from '../../plugins/pages/pages/ui/languages.ts'
import { de } from '../../plugins/pages/pages/messages/de.ts'
import { en } from '../../plugins/pages/pages/messages/en.ts'
import { es } from '../../plugins/pages/pages/messages/es.ts'
import { fr } from '../../plugins/pages/pages/messages/fr.ts'
import { ja } from '../../plugins/pages/pages/messages/ja.ts'
import { readPicture } from '../../plugins/pages/pages/ui/picture.ts'
import { contentSecurityPolicy, sourceOf } from '../../plugins/pages/pages/ui/policy.ts'
import { styleSheet } from '../../plugins/pages/pages/ui/style.ts'

describe('html', () => {
  it('row 284: every value is escaped, in text and in attributes', () => {
    const hostile = `<script>alert(1)</script>"'\`&`
    expect(markup`<p title="${hostile}">${hostile}</p>`.text).toBe(
      '<p title="&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&#96;&amp;">&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&#96;&amp;</p>',
    )
  })

  it('markup and lists nest, absent values draw nothing', () => {
    expect(markup`<ul>${['<a>', markup`<li>1</li>`, false, null, undefined, 0]}</ul>`.text).toBe('<ul>&lt;a&gt;<li>1</li>0</ul>')
  })

  it('attributes from outside: names are checked, code and styles never pass', () => {
    const given = {
      autoComplete: 'off',
      required: true,
      disabled: false,
      'data-x': 'a"b',
      'aria-invalid': false,
      spellcheck: false,
      onclick: 'alert(1)',
      ONFOCUS: 'alert(1)',
      style: 'color:red',
      formaction: 'https://evil.example',
      form: 'other',
      id: 'x',
      name: 'y',
      'x onload=alert(1)': '1',
      '"><script>': '1',
      '': '1',
      absent: undefined,
    }
    expect(markup`<input${drawAttributes(given)}>`.text).toBe(
      '<input autocomplete="off" required data-x="a&quot;b" aria-invalid="false" spellcheck="false">',
    )
  })

  it('scripts and styles cannot leave their element', () => {
    expect(scriptText('a("</script><!--</SCRIPT >")').text).not.toMatch(/<\/script|<!--/i)
    expect(styleText('a{}</style><script>').text).not.toContain('</')
  })
})

describe('colours', () => {
  it.each([
    ['#fff', '#ffffff'],
    ['#1db954', '#1db954'],
    ['1DB954', '#1db954'],
    ['#1db95480', '#1db954'],
    ['#abcd', '#aabbcc'],
  ])('%s is %s', (given, hex) => expect(toHex(parseColor(given) ?? black)).toBe(hex))

  it.each(['red', 'rgb(1,2,3)', '#12', '#12345', '#ggg', 'url(//evil.example)', '#fff;}body{display:none', '', undefined, null, 7, {}])(
    '%s is no colour',
    (given) => expect(parseColor(given)).toBeUndefined(),
  )

  it('contrast is that of WCAG', () => {
    expect(contrastOf(black, white)).toBeCloseTo(21, 5)
    expect(contrastOf([118, 118, 118], white)).toBeCloseTo(4.54, 1)
  })

  it('row 283: text on any brand colour reaches 4.5, marks and focus rings 3, in both schemes', () => {
    for (let step = 0; step < 4096; step += 37) {
      const hex = `#${step.toString(16).padStart(3, '0')}`
      const look = createLook({ brandColor: hex, buttonText: '#777777' }, undefined)
      const mark = createMark({ brandColor: hex }, undefined)
      for (const scheme of ['light', 'dark'] as const) {
        const { brand, brandHover, buttonText, focus } = look[scheme]
        expect(contrastOf(color(brand), color(buttonText)), hex).toBeGreaterThanOrEqual(4.5)
        expect(contrastOf(color(brandHover), color(buttonText)), `${hex} hovered`).toBeGreaterThanOrEqual(4.5)
        expect(contrastOf(color(focus), surfaces[scheme]), `${hex} focus`).toBeGreaterThanOrEqual(3)
        if (mark[scheme]) expect(contrastOf(color(mark[scheme]), surfaces[scheme]), `${hex} mark`).toBeGreaterThanOrEqual(3)
      }
      expect(contrastOf(color(mark.brand), color(mark.onBrand)), `${hex} letter`).toBeGreaterThanOrEqual(4.5)
    }
  })

  it('a readable buttonText is kept, an unreadable one replaced', () => {
    expect(toHex(textOn([0, 0, 128], [255, 255, 0]))).toBe('#ffff00')
    expect(toHex(textOn([0, 0, 128], [0, 0, 100]))).toBe('#ffffff')
  })

  it('a readable colour stays as it is', () => expect(makeReadable([200, 0, 0], white, 3)).toEqual([200, 0, 0]))

  it('row 336: bg and text count when there is no brandColor', () => {
    expect(createMark({ bg: '#1877f2', text: '#fff' }, undefined).brand).toBe('#1877f2')
    expect(createMark({ bg: '#fff', text: '#ff0000' }, undefined).brand).toBe('#ff0000')
    expect(createMark({ brandColor: '#00ff00', bg: '#1877f2' }, undefined).brand).toBe('#00ff00')
  })

  it('nothing of a theme gets into the style but computed colours', () => {
    const evil = '#fff}body{background:url(//evil.example)}'
    const look = createLook(
      { brandColor: evil, buttonText: evil, colorScheme: evil as never, logo: 'javascript:alert(1)' },
      'https://a.example',
    )
    expect(styleSheet(look)).not.toContain('evil')
    expect(look).toMatchObject({ scheme: 'auto', logo: undefined })
  })

  it.each([
    ['light', false],
    ['dark', false],
    ['auto', true],
  ] as const)('colorScheme %s asks the system: %s', (colorScheme, asks) => {
    expect(styleSheet(createLook({ colorScheme }, undefined)).includes('prefers-color-scheme')).toBe(asks)
  })

  it('the style loads nothing and moves nothing for who does not want it', () => {
    const sheet = styleSheet(createLook({}, undefined))
    expect(sheet).not.toMatch(/@import|@font-api|url\(|https?:/)
    expect(sheet).toContain('prefers-reduced-motion')
    expect(sheet).toContain('forced-colors')
  })
})

describe('pictures', () => {
  const origin = 'https://app.example'
  const shape = '<svg viewBox="0 0 24 24"><path d="M0 0h24v24z"/></svg>'

  it('an inline drawing in one colour is a shape that takes the colour of the text', () => {
    const { kind, url } = readPicture(shape, origin) ?? {}
    expect(kind).toBe('shape')
    expect(decodeURIComponent(url ?? '')).toContain('xmlns="http://www.w3.org/2000/svg"')
    expect(url).not.toMatch(/["'()<>\s\\]/)
  })

  it('a drawing in several colours is an image', () => {
    expect(readPicture('<svg><path fill="#f00"/><path fill="#0f0"/></svg>', origin)?.kind).toBe('image')
    expect(readPicture('<svg><style>a{}</style></svg>', origin)?.kind).toBe('image')
  })

  it('data: URLs of images pass, drawings among them are treated like inline ones', () => {
    expect(readPicture('data:image/png;base64,iVBORw0KGgo=', origin)).toEqual({ kind: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' })
    expect(readPicture(`data:image/svg+xml;base64,${btoa(shape)}`, origin)).toEqual(readPicture(shape, origin))
    expect(readPicture(`data:image/svg+xml;utf8,${encodeURIComponent(shape)}`, origin)).toEqual(readPicture(shape, origin))
  })

  it('images of the own origin pass, as a path', () => {
    expect(readPicture('/logo.png', origin)).toEqual({ kind: 'image', url: '/logo.png' })
    expect(readPicture('https://app.example/logo.png?v=2', origin)).toEqual({ kind: 'image', url: '/logo.png?v=2' })
  })

  it.each([
    'https://cdn.example/logo.svg',
    '//cdn.example/logo.svg',
    '/\\cdn.example/logo.svg',
    'javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'data:image/png,");}body{display:none}',
    'blob:https://app.example/1',
    '',
    '<svg>\ud800</svg>',
  ])('%s is not shown', (logo) => expect(readPicture(logo, origin)).toBeUndefined())

  it('SECURITY: what is too big is not shown', () => expect(readPicture(`<svg>${'x'.repeat(70_000)}</svg>`, origin)).toBeUndefined())

  it('GHSA-9h6g-pr28-7cqp: a hostile data: URL costs no time to speak of', () => {
    const rounds = 64_000
    expect(readPicture(`data:image/svg+xml,<svg ${'fill= '.repeat(rounds / 6)}`, origin)?.kind).toMatch(/shape|image/)
    expect(readPicture(`data:image/${'a'.repeat(rounds)}`, origin)).toBeUndefined()
  })
})

describe('languages', () => {
  const known = new Map(['en', 'de', 'pt-BR', 'zh-Hant'].map((tag) => [tag.toLowerCase(), tag]))

  it.each([
    ['de', 'de'],
    ['de-AT,en;q=0.5', 'de'],
    ['en;q=0.5, de;q=0.9', 'de'],
    ['it, de;q=0.1', 'de'],
    ['de;q=0, en', 'en'],
    ['pt-br', 'pt-BR'],
    ['zh-Hant-TW', 'zh-Hant'],
    ['zh', 'en'],
    ['*', 'en'],
    ['', 'en'],
    [null, 'en'],
    ['__proto__', 'en'],
    ['de;q=nonsense, en', 'en'],
    ['"><script>', 'en'],
  ])('%s speaks %s', (header, tag) => expect(negotiateLanguage(header, known)).toBe(tag))

  it('reads no further than anybody writes', () => expect(negotiateLanguage(`${'xx,'.repeat(500)}de`, known)).toBe('en'))

  it('row 287: five languages have every text, each of its own and with the same placeholders', () => {
    for (const texts of [de, fr, es, ja]) {
      expect(Object.keys(texts)).toEqual(Object.keys(en))
      for (const [key, text] of Object.entries(texts)) {
        expect(placeholders(text), key).toEqual(placeholders(en[key as keyof typeof en]))
        if (/^(error|verify|signOut)\..*(text|heading|\.[A-Z]\w+)$/.test(key)) expect(text, key).not.toBe(en[key as keyof typeof en])
      }
    }
  })

  it("the host's texts come first, by region, by language, then ours; new languages fall back to English", () => {
    const speak = createPageLanguages({
      de: { 'signIn.or': 'bzw.' },
      'de-CH': { 'signOut.heading': 'Abmelden, gäll' },
      it: { 'signIn.or': 'oppure' },
    })
    expect(speak('de').say('signIn.or')).toEqual(['bzw.'])
    expect(speak('de-CH')).toMatchObject({ lang: 'de-CH', dir: 'ltr' })
    expect(markup`${speak('de-CH').say('signOut.heading')}${speak('de-CH').say('signIn.or')}`.text).toBe('Abmelden, gällbzw.')
    expect(speak('it').find('signIn.or')).toBe('oppure')
    expect(speak('it').find('signIn.heading')).toBe(en['signIn.heading'])
  })

  it('right-to-left languages say so; what is not a language tag is none', () => {
    const speak = createPageLanguages({ ar: {}, constructor: {}, '"><b>': {} } as never)
    expect(speak('ar').dir).toBe('rtl')
    expect(speak('"><b>').lang).toBe('en')
  })

  it('a code from outside finds no inherited property', () => {
    expect(createPageLanguages()('en').find('constructor')).toBeUndefined()
    expect(createPageLanguages()('en').find('__proto__')).toBeUndefined()
  })

  it('values are escaped, unknown placeholders stay', () => {
    const speak = createPageLanguages({ en: { 'signOut.text': '{site} {other} <b>' } })
    expect(markup`${speak('en').say('signOut.text', { site: '<i>' })}`.text).toBe('&lt;i&gt; {other} &lt;b&gt;')
  })
})

describe('the policy', () => {
  it('says everything by name and falls back to nothing', () => {
    expect(contentSecurityPolicy('n', {})).toBe(
      "default-src 'none'; style-src 'nonce-n'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    )
    expect(contentSecurityPolicy('n', { forms: ["'self'", "'self'"], script: true })).toBe(
      "default-src 'none'; style-src 'nonce-n'; img-src 'self' data:; script-src 'nonce-n'; connect-src 'self'; " +
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    )
  })

  it.each([
    ['https://id.example/authorize?x=;script-src', 'https://id.example'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080/', 'http:'],
    ['com.example.app:/callback', 'com.example.app:'],
    ["https://a;script-src'unsafe-inline'.example", undefined],
    ['https://a,b.example', undefined],
    ['https://*.example', undefined],
    ['javascript:alert(1)', undefined],
    ['data:text/html,x', undefined],
    ['/relative', undefined],
    ['', undefined],
  ])('%s is the source %s', (url, expected) => expect(sourceOf(url)).toBe(expected))
})

function color(hex: string | undefined): readonly [number, number, number] {
  const parsed = parseColor(hex)
  if (!parsed) throw new Error(`${hex} is no colour`)
  return parsed
}

function placeholders(text: string): string[] {
  return [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort()
}
