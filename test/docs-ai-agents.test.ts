/** The example of docs/tasks/ai-agents.md, run as it is written: an agent with the official SDK signs in and calls its tool. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { auth as authorize } from '@modelcontextprotocol/sdk/client/auth.js'
import express from 'express'
import { afterAll, expect, it, vi } from 'vitest'
import { HostileOp } from './_op/hostile.ts'
import { root } from './_sources.ts'

const file = join(root, 'test', `.ai-agents-${process.pid}.ts`)
const op = await new HostileOp().listen()
const listen = vi.spyOn(express.application as { listen: (...args: unknown[]) => unknown }, 'listen')
afterAll(async () => {
  rmSync(file, { force: true })
  vi.unstubAllEnvs()
  for (const { value } of listen.mock.results) (value as ReturnType<typeof createServer>).close()
  await op.close()
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

it('the app of docs/tasks/ai-agents.md has 15 lines after its imports, and serves an agent that registers', async () => {
  const page = readFileSync(join(root, 'docs/tasks/ai-agents.md'), 'utf8')
  const code = /```ts\n([\s\S]*?)```/.exec(page)![1]!
  const lines = code.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('import '))
  expect(lines.length).toBeLessThanOrEqual(16)
  const port = await freePort()
  const origin = `http://localhost:${port}`
  const variables = {
    AUTH_URL: origin,
    AUTH_SECRET: 's'.repeat(40),
    PORT: String(port),
    ACME_ID: op.clientId,
    ACME_SECRET: op.clientSecret,
  }
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  expect(code).toContain("'https://id.acme.example'")
  writeFileSync(file, code.replace('https://id.acme.example', op.issuer))
  await import(file)

  // A browser that follows redirects and keeps cookies by host.
  const jar = new Map<string, string>()
  const browse = async (url: string, init: RequestInit = {}): Promise<{ url: string; response: Response }> => {
    const headers = new Headers(init.headers)
    if (url.startsWith(origin)) headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '))
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      jar.set(name, value)
    }
    const to = response.headers.get('location')
    return to === null || to.startsWith('http://127.0.0.1:33418') ? { url: to ?? url, response } : browse(new URL(to, url).href)
  }
  const form = async (path: string, fields: Record<string, string>) => {
    const { csrfToken } = (await (await browse(`${origin}/auth/csrf`)).response.json()) as { csrfToken: string }
    return browse(`${origin}${path}`, { method: 'POST', body: new URLSearchParams({ csrfToken, ...fields }) })
  }
  await form('/auth/signin/acme', {})
  const kept: { information?: object; tokens?: { access_token: string }; verifier?: string; code?: string } = {}
  const provider = {
    redirectUrl: 'http://127.0.0.1:33418/cb',
    clientMetadata: { redirect_uris: ['http://127.0.0.1:33418/cb'], client_name: 'Agent', token_endpoint_auth_method: 'none' },
    clientInformation: () => kept.information as never,
    saveClientInformation: (information: object) => void (kept.information = information),
    tokens: () => undefined,
    saveTokens: (tokens: { access_token: string }) => void (kept.tokens = tokens),
    saveCodeVerifier: (verifier: string) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier!,
    async redirectToAuthorization(url: URL) {
      const { response } = await browse(url.href)
      const ticket = /name="ticket" value="([^"]+)"/.exec(await response.text())![1]!
      const back = await form('/auth/oauth2/consent', { ticket, decision: 'allow' })
      kept.code = new URL(back.url).searchParams.get('code')!
    },
  }
  expect(await authorize(provider, { serverUrl: `${origin}/mcp` })).toBe('REDIRECT')
  expect(await authorize(provider, { serverUrl: `${origin}/mcp`, authorizationCode: kept.code! })).toBe('AUTHORIZED')
  const call = async (token: string) =>
    fetch(`${origin}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } }),
    })
  const answer = await call(kept.tokens!.access_token)
  const session = (await (await browse(`${origin}/auth/session`)).response.json()) as { user: { id: string } }
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining(`"text":"${session.user.id}"`)])
  expect((await call('wrong')).status).toBe(401)
})
