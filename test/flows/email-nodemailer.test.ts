/** The versions of nodemailer that the package accepts, each over a real SMTP server: the oldest 7 and 8 that are accepted, and the one of the repository. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../_sources.ts'
import { createHost, errorAt, origin, verifyRequest } from '../plugins/_email-host.ts'
import { type MailServer, startMailServer } from './_mail-server.ts'

interface Manifest {
  version: string
  main: string
  peerDependencies?: Record<string, string>
}
const folders = ['test/peers/node_modules/nodemailer-7', 'test/peers/node_modules/nodemailer-8', 'node_modules/nodemailer']
const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest
const accepted = manifestOf('.').peerDependencies?.['nodemailer'] ?? ''
const rangesOf = (text: string): string[] => text.split('||').map((range) => range.trim())
const installed = folders.filter((folder) => process.env.CI || existsSync(join(root, folder)))

it('every version that @auth/core accepts is accepted, so that both packages can be installed in one app', () => {
  const theirs = manifestOf('node_modules/@auth/core').peerDependencies?.['nodemailer'] ?? ''
  expect(theirs).not.toBe('')
  expect(rangesOf(accepted)).toEqual(expect.arrayContaining(rangesOf(theirs)))
})

describe.each(installed)('%s', (folder) => {
  const { version, main } = manifestOf(folder)
  const lib = (): Promise<unknown> => import(/* @vite-ignore */ pathToFileURL(join(root, folder, main)).href)
  let server: MailServer
  beforeAll(async () => {
    server = await startMailServer()
  })
  afterAll(() => server.close())
  const smtp = () => ({ host: '127.0.0.1', port: server.port })

  it(`${version} is the oldest of its major version that the package accepts`, () => {
    expect(rangesOf(accepted).map((range) => range.replace(/^\D+/, ''))).toContain(version)
  })

  it('a mail arrives whole, and its link signs in', async () => {
    const host = createHost({ server: smtp(), from: '"Acme, Inc." <no-reply@app.example>', lib })
    const ada = host.person()
    expect(await ada.ask('Ada@Mail.Example', { callbackUrl: '/dash' })).toBe(verifyRequest)
    const { sender, recipients, mail } = server.delivered.at(-1)!
    expect({ sender, recipients }).toEqual({ sender: 'no-reply@app.example', recipients: ['ada@mail.example'] })
    expect(mail.from).toMatchObject({ address: 'no-reply@app.example', name: 'Acme, Inc.' })
    expect(mail.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated')
    expect(mail.html).toContain('href="')
    expect(await ada.open(server.lastLink())).toBe(`${origin}/dash`)
  })

  it('an address that names a second mailbox reaches the stored one alone (GHSA-mm7p-fcc7-pg87)', async () => {
    const host = createHost({ server: smtp(), lib }, { throttle: false })
    for (const email of ['"ada@mail.example x"@evil.example', 'ada@mail.example,eve@evil.example', '<eve@evil.example>ada@mail.example']) {
      const before = server.asked.length
      host.data.tokens.clear()
      await host.person().ask(email)
      const stored = [...host.data.tokens.values()].map(({ identifier }) => identifier)
      expect(server.asked.slice(before), email).toEqual(stored)
    }
  })

  it('a refused recipient is an error', async () => {
    const refusing = await startMailServer({ onRcptTo: (_address, _session, callback) => callback(new Error('no such mailbox')) })
    const host = createHost({ server: { host: '127.0.0.1', port: refusing.port }, lib })
    expect(await host.person().ask('ada@mail.example')).toBe(errorAt('Configuration'))
    expect(host.logged()).toEqual(['EmailSignInError'])
    await refusing.close()
  })

  it('a server that hangs is given up, and its connection is closed', async () => {
    const hanging = await startMailServer({ onData: (stream) => void stream.resume() })
    const host = createHost({ server: { host: '127.0.0.1', port: hanging.port }, lib }, { deadlines: { network: 300 } })
    expect(await host.person().ask('ada@mail.example')).toBe(errorAt('Configuration'))
    expect(host.data.tokens.size).toBe(0)
    await expect.poll(() => hanging.open()).toBe(0)
    await hanging.close()
  })

  it('requireTLS is kept: without STARTTLS no password goes out', async () => {
    let passwords = 0
    const plain = await startMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (_auth, _session, callback) => {
        passwords++
        callback(null, { user: 'ada' })
      },
    })
    const auth = { user: 'ada', pass: 'secret' }
    const host = createHost({ server: { host: '127.0.0.1', port: plain.port, requireTLS: true, auth }, lib })
    expect(await host.person().ask('ada@mail.example')).toBe(errorAt('Configuration'))
    expect(passwords).toBe(0)
    await plain.close()
  })
})
