/** What browsers do: a session read is one request, a sign-in two, over connections that stay open. */
import { Agent, request } from 'node:http'
import { origin as elsewhere } from '../../contestants/_setup.mjs'

const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** A client of one server; `begin` makes what all sign-ins of a browser share. */
export function clientOf(port) {
  const agent = new Agent({ keepAlive: true, maxSockets: 128, maxFreeSockets: 128 })
  const send = (path, { method = 'GET', headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, method, headers, agent }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part) => (text += part))
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }))
        response.on('error', reject)
      })
      sent.on('error', reject)
      if (body) sent.setHeader('content-length', Buffer.byteLength(body))
      sent.end(body)
    })
  return { send, origin: `http://127.0.0.1:${port}`, close: () => agent.destroy() }
}

/** How authkernel and Auth.js are asked. */
export async function asAuthJs({ send }) {
  const { headers, text } = await send('/auth/csrf')
  const [cookie, body] = [cookiesOf(headers), new URLSearchParams({ csrfToken: JSON.parse(text).csrfToken }).toString()]
  return {
    async read(session) {
      const { status, text } = await send('/auth/session', { headers: { cookie: session } })
      if (status !== 200 || !text.includes('"user"')) throw new Error(`no session: ${status} ${text}`)
    },
    async signIn(name) {
      const started = await send('/auth/signin/acme', { method: 'POST', headers: { ...form, cookie }, body })
      const back = new URL(started.headers.location, elsewhere)
      const query = new URLSearchParams({ code: name, ...(back.searchParams.has('state') && { state: back.searchParams.get('state') }) })
      const ended = await send(`/auth/callback/acme?${query}`, { headers: { cookie: `${cookie}; ${cookiesOf(started.headers)}` } })
      proven(ended, /session-token=./)
    },
  }
}

/** How better-auth is asked. */
export async function asBetterAuth({ send, origin }) {
  const body = JSON.stringify({ provider: 'acme', callbackURL: '/' })
  return {
    async read(session) {
      const { status, text } = await send('/api/auth/get-session', { headers: { cookie: session } })
      if (status !== 200 || !text.includes('"user"')) throw new Error(`no session: ${status} ${text}`)
    },
    async signIn(name) {
      const headers = { 'content-type': 'application/json', origin }
      const started = await send('/api/auth/sign-in/social', { method: 'POST', headers, body })
      const query = new URLSearchParams({ code: name, state: new URL(JSON.parse(started.text).url).searchParams.get('state') })
      const ended = await send(`/api/auth/callback/acme?${query}`, { headers: { cookie: cookiesOf(started.headers) } })
      proven(ended, /session_token=./)
    },
  }
}

function proven({ status, headers, text }, cookie) {
  if (cookie.test((headers['set-cookie'] ?? []).join())) return
  throw new Error(`no session after a sign-in: ${status} ${headers.location} ${text.slice(0, 300)}`)
}

function cookiesOf(headers) {
  return (headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ')
}
