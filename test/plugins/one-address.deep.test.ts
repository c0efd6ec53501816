/** One mailbox, one text: every plugin that takes an address reads it alike, and what is no one address is refused before anything is looked up or mailed. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { countedName, type MailMessage, type Plugin, readAddress, toAddress } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { addressPlugin } from 'authkernel/plugins/address'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { emailPlugin } from 'authkernel/plugins/email'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { organizationsPlugin } from 'authkernel/plugins/organizations'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { webauthnPlugin } from 'authkernel/plugins/webauthn'
import { baseConfig, Client } from '../_setup.ts'
import { root } from '../_sources.ts'
import { LocalOp } from '../rows/_op.ts'

const mailbox = 'ada@bücher.example'
const spellings = [
  mailbox,
  ' Ada@BÜCHER.Example\t',
  'ada@bu\u0308cher.example',
  'ada@xn--bcher-kva.example',
  'ADA@XN--BCHER-KVA.EXAMPLE',
  'ada@b\u00FCcher\u3002example',
  'ａｄａ＠bücher．example',
]
/** Marks that are invisible, and that IDNA or a reader of mail drops. */
const unseen = [
  0xad, 0x34f, 0x61c, 0x115f, 0x17b4, 0x180b, 0x180e, 0x180f, 0x200b, 0x200c, 0x200d, 0x200e, 0x202a, 0x2060, 0x2064, 0x206f, 0x3164,
  0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0x1bca0, 0x1d173, 0xe0001, 0xe0100, 0xe01ef,
]
const hostile = unseen.flatMap((code) => {
  const mark = String.fromCodePoint(code)
  return [`ada@b${mark}ücher.example`, `a${mark}da@bücher.example`, `ada@bücher.exam${mark}ple`, `ada@bücher.example${mark}`]
})

describe('what a text names', () => {
  it.each(spellings)('%j is one mailbox', (typed) => {
    expect([toAddress(typed), countedName(typed)]).toEqual([mailbox, mailbox])
  })

  it('unseen marks name nothing, and the refusal says why without repeating the text', () => {
    for (const typed of hostile) {
      expect([typed, toAddress(typed)]).toEqual([typed, undefined])
      expect(() => readAddress(typed, { international: true })).toThrow(/^The email address holds spaces/)
    }
  })

  it('names that differ by unseen marks share the count of a limit', () => {
    expect(unseen.map((code) => countedName(`A${String.fromCodePoint(code)}da`))).toEqual(unseen.map(() => 'ada'))
  })
})

describe('every way to give an address', () => {
  async function world() {
    const base = baseConfig({
      origin: 'http://localhost:3000',
      session: { strategy: 'database' },
      throttle: false,
      experimental: { enableWebAuthn: true },
    })
    const mails: MailMessage[] = []
    const postbox: Plugin = {
      name: 'postbox',
      setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }),
    }
    const memory = memoryAdapter(memoryData())
    /** What was looked up or mailed. */
    let reached: string[] = []
    const adapter = { ...memory, getUserByEmail: (address: string) => (reached.push(address), memory.getUserByEmail(address)) }
    const linked = {
      id: 'mail',
      name: 'Mail',
      type: 'email' as const,
      sendVerificationRequest: ({ identifier }: { identifier: string }) => void reached.push(identifier),
    }
    const op = new LocalOp(base.runtime.now)
    base.runtime.fetch = op.fetch
    const auth = createAuth(base)
      .use(adapterPlugin(adapter))
      .use(postbox)
      .use(emailPlugin(linked as never))
      .use(codesPlugin({ via: email() }))
      .use(passwordsPlugin({ breached: false }))
      .use(webauthnPlugin())
      .use(addressPlugin())
      .use(organizationsPlugin())
      .use(oidcPlugin({ ...op.provider('oidc', 'bank'), trustEmail: true } as never))
    await auth.ready({ warm: true })
    await adapter.createUser({ id: 'owner', email: 'owner@example.com', name: 'Owner', emailVerified: new Date() })
    const { id } = await auth.organizations.create({ userId: 'owner' }, { name: 'Works', slug: 'works' })
    const owner = new Client(auth)
    await owner.post('/signin/codes', { email: 'owner@example.com' })
    await expect.poll(() => mails.length, { timeout: 5000, interval: 2 }).toBe(1)
    await owner.post('/callback/codes', { code: /^\s*(\d{6})\s*$/m.exec(mails.pop()!.text)![1]! })
    const fresh = () => new Client(auth)
    const password = 'seven purple otters sing'
    const ways: Record<string, (typed: string) => Promise<Response>> = {
      'mailed link': (typed) => fresh().post('/signin/mail', { email: typed }),
      code: (typed) => fresh().post('/signin/codes', { email: typed }),
      registration: (typed) => fresh().post('/passwords/sign-up', { email: typed, password }),
      reset: (typed) => fresh().post('/passwords/reset', { email: typed }),
      password: (typed) => fresh().post('/callback/passwords', { email: typed, password }),
      passkey: (typed) => fresh().get(`/webauthn-options/passkey?action=register&email=${encodeURIComponent(typed)}`),
      'change of address': (typed) => owner.post('/account/address', { email: typed }),
      invitation: async (typed) => {
        const error = await auth.organizations.invite({ userId: 'owner' }, id, { email: typed }).then(
          () => undefined,
          ({ type, status }: { type?: string; status?: number }) => type ?? status ?? 'none',
        )
        return new Response(null, { status: error === undefined ? 200 : error === 'none' ? 500 : 400 })
      },
      provider: async (typed) => {
        op.person = { sub: typed, name: 'x', email: typed, email_verified: true }
        const client = fresh()
        const started = await client.post('/signin/bank')
        return client.get(op.authorize(started.headers.get('location')!))
      },
    }
    const run = async (way: string, typed: string) => {
      reached = []
      mails.length = 0
      const response = await ways[way]!(typed)
      // What the answer does not wait for.
      for (let turns = 0; turns < 40; turns++) await new Promise((resolve) => setImmediate(resolve))
      return { response, reached: new Set([...reached, ...mails.map(({ to }) => to)]) }
    }
    return { run, names: Object.keys(ways) }
  }

  it('reads every spelling as the same text, and asks for no other', async () => {
    const { run, names } = await world()
    for (const way of names)
      for (const typed of spellings) {
        // A provider's part before the @ is its own; and no blank is part of an address that it gives.
        if (way === 'provider' && !/^[!-~]+@/.test(typed)) continue
        const { response, reached } = await run(way, typed)
        expect([way, typed, response.status < 500]).toEqual([way, typed, true])
        reached.delete('owner@example.com')
        expect([way, typed, [...reached].filter((address) => address !== mailbox)]).toEqual([way, typed, []])
      }
  }, 60_000)

  it('refuses every unseen mark, and looks nothing up and mails nothing', async () => {
    const { run, names } = await world()
    for (const way of names)
      for (const typed of hostile) {
        const { response, reached } = await run(way, typed)
        const refused = (response.status >= 400 && response.status < 500) || (response.headers.get('location') ?? '').includes('error=')
        reached.delete('owner@example.com')
        expect([way, typed, refused, [...reached]]).toEqual([way, typed, true, []])
      }
  }, 120_000)
})

it('no plugin has spellings of its own', () => {
  const files = readdirSync(join(root, 'plugins'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const own = files.filter((name) =>
    /(?:mail|address)\b[^\n]*\.normalize\(|xn--|toUnicode/i.test(readFileSync(join(root, 'plugins', name), 'utf8')),
  )
  expect(own).toEqual([])
})
