/** What the site shows. Strings, so that it is the same for every server. */
import type { Session } from 'authkernel'
import { buildSync } from 'esbuild'
import { readFileSync } from 'node:fs'

const { outputFiles } = buildSync({
  stdin: { contents: readFileSync(new URL('browser.js', import.meta.url), 'utf8'), resolveDir: import.meta.dirname },
  bundle: true,
  format: 'esm',
  write: false,
})
/** Files by path. */
export const assets: Record<string, { type: string; body: string }> = {
  '/style.css': { type: 'text/css', body: readFileSync(new URL('../_shared/style.css', import.meta.url), 'utf8') },
  '/browser.js': { type: 'text/javascript', body: outputFiles[0]!.text },
}

/** The session, or the ways to get one. */
export function home(session: Session | null, code?: string): string {
  if (session?.user) {
    return page(session, `<h1>Hello, ${text(nameOf(session))}.</h1><pre id="session">${text(JSON.stringify(session, null, 2))}</pre>`)
  }
  return page(
    null,
    `<h1>Sign in</h1>
    <section><form method="post" action="/sign-in/acme"><button>Continue with Acme ID</button></form></section>
    <section><h2>Password</h2><form method="post" action="/sign-in/credentials">
      <label>Username <input name="username" autocomplete="username" required></label>
      <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
      ${code ? `<p role="alert">That did not work: ${text(code)}</p>` : ''}<button>Sign in with password</button></form></section>
    <section><h2>Mail</h2><form method="post" action="/sign-in/email">
      <label>Email address <input name="email" type="email" autocomplete="email" required></label><button>Email me a link</button></form></section>
    <section><h2>Passkey</h2><button type="button" id="passkey">Sign in with a passkey</button><p role="alert" id="message"></p></section>`,
  )
}

/** For people with a session. */
export function members(session: Session): string {
  return page(session, `<h1>Only you can see this.</h1><p>${text(session.user?.email ?? '')}</p>`)
}

export function account(session: Session): string {
  return page(
    session,
    `<h1>Your account</h1><p>${text(session.user?.email ?? '')}</p>
    <button type="button" id="add-passkey">Add a passkey</button><p role="status" id="message"></p>`,
  )
}

function page(session: Session | null, content: string): string {
  const member = session
    ? `<a href="/account">Your account</a><span>Signed in as <b id="who">${text(nameOf(session))}</b></span>
      <form method="post" action="/sign-out"><button>Sign out</button></form>`
    : ''
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Playground</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css"><script type="module" src="/browser.js"></script></head>
    <body><header><a href="/">Playground</a><nav class="row" aria-label="Pages"><a href="/protected">Protected page</a>${member}</nav></header>
    <main>${content}</main></body></html>`
}

function nameOf({ user }: Session): string {
  return user?.name ?? user?.email ?? ''
}

function text(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
