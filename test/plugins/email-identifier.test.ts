import { describe, expect, it } from 'vitest'
import addressparser from 'nodemailer/lib/addressparser'
import { domainToASCII, domainToUnicode } from 'node:url'
import { isAddress, readAddress, toAsciiAddress } from 'authkernel/kernel'
import { parseMailbox } from '../../plugins/sign-in/email/sender.ts'
import { hostileAddresses } from './_hostile-addresses.ts'

const accepted: [string, string][] = [
  ['ada@mail.example', 'ada@mail.example'],
  [' Ada@Mail.Example\t', 'ada@mail.example'],
  ['ada+tag@mail.example', 'ada+tag@mail.example'],
  ["o'brien@mail.example", "o'brien@mail.example"],
  ['first.last_name@mail.example', 'first.last_name@mail.example'],
  ['ada-9@a.b.c.mail.example', 'ada-9@a.b.c.mail.example'],
  ['ada@localhost', 'ada@localhost'],
  ['ada\uFF20mail.example', 'ada@mail.example'],
  ['\uFF41da@mail\uFF0Eexample', 'ada@mail.example'],
  ['ada@b\u00FCcher.example', 'ada@b\u00FCcher.example'],
  ['ada@bu\u0308cher.example', 'ada@b\u00FCcher.example'],
  ['ada@B\u00DCCHER.example', 'ada@b\u00FCcher.example'],
  ['ada@XN--BCHER-KVA.example', 'ada@b\u00FCcher.example'],
  ['ada@\u4F8B\u3048.\u30C6\u30B9\u30C8', 'ada@\u4F8B\u3048.\u30C6\u30B9\u30C8'],
  [`${'a'.repeat(64)}@mail.example`, `${'a'.repeat(64)}@mail.example`],
]

describe('readAddress', () => {
  it.each(accepted)('row 218, D39: %j is one mailbox', (written, identifier) => {
    expect(readAddress(written)).toBe(identifier)
    expect(isAddress(identifier)).toBe(true)
    expect(addressparser(identifier)).toEqual([{ address: identifier, name: '' }])
  })

  it('row 218, D39: nothing of the hostile corpus is read as another mailbox, or as two', () => {
    expect(hostileAddresses.length).toBeGreaterThanOrEqual(54)
    const wrong = hostileAddresses.filter((address) => {
      try {
        const identifier = readAddress(address)
        const parsed = addressparser(identifier)
        return parsed.length !== 1 || parsed[0]?.address !== identifier || parsed[0]?.name !== ''
      } catch {
        return false
      }
    })
    expect(wrong).toEqual([])
  })

  it.each([undefined, null, '', 42, true, ['ada@mail.example'], { email: 'ada@mail.example' }])(
    'row 218: %j is not an address',
    (value) => {
      expect(() => readAddress(value)).toThrow('No email address was sent')
    },
  )

  it('D39: what is refused is not repeated in the error', () => {
    const error = (() => {
      try {
        return readAddress('secret-canary"@mail.example')
      } catch (thrown) {
        return thrown as Error
      }
    })()
    expect(error).toBeInstanceOf(Error)
    expect(String(error)).not.toContain('canary')
  })

  it('D39: lengths of RFC 5321 hold, long inputs are refused before any work', () => {
    expect(() => readAddress(`${'a'.repeat(65)}@mail.example`)).toThrow('too long')
    expect(() => readAddress(`a@${'b.'.repeat(130)}example`)).toThrow('not a domain name')
    expect(() => readAddress('a@'.repeat(1_000_000))).toThrow('longer than')
    // Each of these characters becomes 18 under NFKC.
    expect(() => readAddress('\uFDFA'.repeat(500))).toThrow('too long')
  })

  it('D39: non-ASCII local parts need internationalAddresses', () => {
    expect(() => readAddress('j\u00F5e@mail.example')).toThrow('not accepted')
    expect(readAddress('J\u00F5e@mail.example', { international: true })).toBe('j\u00F5e@mail.example')
    expect(() => readAddress('j\u00F5e"x"@mail.example', { international: true })).toThrow('not accepted')
    expect(() => readAddress('j\u200De@mail.example', { international: true })).toThrow('control')
  })

  it('row 217: normalizeIdentifier sees the text after NFKC, and its result is checked', () => {
    const seen: string[] = []
    const normalize = (identifier: string): string => {
      seen.push(identifier)
      return identifier
        .trim()
        .toLowerCase()
        .replace(/\+[^@]*@/, '@')
    }
    expect(readAddress('\uFF21da+spam@Mail.example ', { normalize })).toBe('ada@mail.example')
    expect(seen).toEqual(['Ada+spam@Mail.example '])
    expect(() => readAddress('x', { normalize: () => 'a@b.example,c@d.example' })).toThrow(Error)
    expect(() => readAddress('x', { normalize: () => 7 as never })).toThrow('did not return a text')
    expect(() =>
      readAddress('x@y.example', {
        normalize: () => {
          throw new Error('not from here')
        },
      }),
    ).toThrow('not from here')
  })
})

describe('international domains', () => {
  // Scripts of several blocks, from one to four bytes a character.
  const blocks = [0xe0, 0x3b1, 0x430, 0x5d0, 0x627, 0x905, 0xe01, 0x3042, 0x4e00, 0xac00, 0x20000]
  const labels = blocks.flatMap((first, i) =>
    [1, 2, 5, 11].map((length) => String.fromCodePoint(...Array.from({ length }, (_, n) => first + ((n * 7 + i) % 20)))),
  )

  it('D39: the ASCII form and the written form are one identifier, and mail servers are asked for the ASCII form', () => {
    let international = 0
    for (const label of [...labels, ...labels.map((text) => `a-${text}-9`)]) {
      const ascii = domainToASCII(`${label}.example`)
      if (ascii === '') continue
      international++
      const identifier = `ada@${domainToUnicode(ascii)}`
      expect(readAddress(`ada@${ascii}`)).toBe(identifier)
      expect(readAddress(`ADA@${label}.example`)).toBe(identifier)
      expect(isAddress(identifier)).toBe(true)
      expect(toAsciiAddress(identifier)).toBe(`ada@${ascii}`)
    }
    expect(international).toBeGreaterThan(60)
  })

  it.each(['xn--', 'xn--a', 'xn---', 'xn--99999999', 'xn--zzzzzzzzzzzz', 'xn--0117-u7a', 'xn--\u00FC', 'xn--bcher-kva-'])(
    'D39: of %s nothing is made that is not the same domain',
    (label) => {
      const address = `ada@${label}.example`
      try {
        const identifier = readAddress(address)
        expect(readAddress(toAsciiAddress(identifier))).toBe(identifier)
        expect(identifier).toMatch(/^ada@[^@,;<>"\s]+$/)
      } catch (error) {
        expect((error as Error).message).toContain('not a domain name')
      }
    },
  )
})

describe('isAddress', () => {
  it.each(['Ada@Mail.Example', 'j\u00F5e@mail.example', 'ada@mail.example'])('takes %j, as a host may have written it', (address) => {
    expect(isAddress(address)).toBe(true)
  })
  it.each([
    '',
    'ada',
    ' ada@mail.example',
    'ada@xn--bcher-kva.example',
    'ada@B\u00DCCHER.example',
    'ada@mail.example\u0000',
    'a@b@c',
    '\uFF41da@mail\uFF0Eexample',
  ])('refuses %j', (address) => {
    expect(isAddress(address)).toBe(false)
  })
})

describe('parseMailbox', () => {
  it.each([
    ['no-reply@app.example', { address: 'no-reply@app.example', name: undefined }],
    ['Login <no-reply@app.example>', { address: 'no-reply@app.example', name: 'Login' }],
    ['<no-reply@app.example>', { address: 'no-reply@app.example', name: undefined }],
    ['"Acme, Inc." <no-reply@app.example>', { address: 'no-reply@app.example', name: 'Acme, Inc.' }],
    ['"Say \\"hi\\"" <no-reply@app.example>', { address: 'no-reply@app.example', name: 'Say "hi"' }],
    ['Gr\u00FC\u00DFe <no-reply@b\u00FCcher.example>', { address: 'no-reply@xn--bcher-kva.example', name: 'Gr\u00FC\u00DFe' }],
  ])('row 212: %j', (text, mailbox) => {
    expect(parseMailbox(text)).toEqual(mailbox)
  })

  it.each([
    '',
    'Login',
    'a@app.example, b@app.example',
    'A, B <a@app.example>',
    'A <a@app.example> B',
    'A <a@app.example>, b@app.example',
    'A <a@app.example> <b@app.example>',
    'Login\r\nBcc: evil@evil.example <a@app.example>',
    'Login\u2028 <a@app.example>',
    'team: a@app.example;',
    'Login (comment) <a@app.example>',
    '"a@evil.example"@app.example',
    `${'x'.repeat(600)} <a@app.example>`,
  ])('GHSA-hwqf-gcqm-7353: %j is refused', (text) => {
    expect(() => parseMailbox(text)).toThrow(Error)
  })
})
