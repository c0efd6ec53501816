/** A site with the plugins of local accounts, Chromium in front of it, and what every page must pass. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { run } from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { createAuth } from 'authkernel'
import type { MailMessage, Plugin } from 'authkernel/kernel'
import { nodeBinding } from 'authkernel/bindings/node'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { addressPlugin } from 'authkernel/plugins/address'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { webauthnPlugin } from 'authkernel/plugins/webauthn'
import { listen, oauth, secret } from './_pages.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Mails go into `mails`; pages outside `/auth` say whose session it is. */
export async function localSite(mails: MailMessage[]): Promise<{ url: string; close(): Promise<void> }> {
  const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) }) }
  const auth = createAuth({
    secret,
    trustHost: true,
    env: false,
    throttle: false,
    session: { strategy: 'database' },
    providers: [oauth('orbit', 'Orbit', 'https://orbit.example/authorize')],
    logger: { error: () => undefined, warn: () => undefined, debug: () => undefined },
  })
    .use(adapterPlugin(memoryAdapter()))
    .use(postbox)
    .use(passwordsPlugin({ breached: false }))
    .use(codesPlugin({ via: email() }))
    .use(webauthnPlugin())
    .use(twoFactorPlugin())
    .use(addressPlugin())
    .use(nodeBinding())
  return listen((req, res) => {
    void auth.node.handler(req, res).then(async (answered) => {
      if (answered) return
      const session = await auth.node.session(req, res)
      res.setHeader('content-type', 'text/html').end(`<!doctype html><title>app</title><p id="who">${session?.user?.email ?? 'nobody'}</p>`)
    })
  })
}

/** No violation, nothing wider than the window. */
export async function look(page: Page, name: string, scripts: boolean): Promise<void> {
  if (process.env['SHOTS']) await page.screenshot({ path: `${process.env['SHOTS']}/${name}${scripts ? '' : '-nojs'}.png`, fullPage: true })
  const width = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect([name, width]).toEqual([name, 0])
  // axe-core itself is a script: a window without them is looked at by the one with them, which shows the same page.
  if (!scripts) return
  await page.evaluate(axe)
  const found = await page.evaluate(async () => (await (globalThis as unknown as { axe: { run: typeof run } }).axe.run()).violations)
  expect([name, found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)]).toEqual([name, []])
}
