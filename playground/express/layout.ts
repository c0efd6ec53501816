/** The frame of every page. */
import type { Session } from 'authkernel'
import { html, type Html } from '../_shared/html.ts'

const links = [
  ['/', 'Home'],
  ['/protected', 'Protected'],
  ['/account', 'Account'],
  ['/mailbox', 'Mailbox'],
  ['/mails', 'Mails'],
  ['/audit', 'Audit'],
  ['/plugins', 'Plugins'],
] as const

/** A page with its place in the navigation; `script` names the script of the page. */
export function layout(path: string, title: string, session: Session | null, content: Html, script?: string): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · authkernel playground</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/style.css" />
        ${script && html`<script type="module" src="/${script}.js"></script>`}
      </head>
      <body>
        <header>
          <a class="brand" href="/"
            ><svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
              <path
                fill="currentColor"
                fill-rule="evenodd"
                d="M12 1.5 20.5 5v6.2c0 5.2-3.6 9.4-8.5 11.3-4.9-1.9-8.5-6.1-8.5-11.3V5zm0 6a2.8 2.8 0 0 0-1.3 5.3l-.9 4h4.4l-.9-4A2.8 2.8 0 0 0 12 7.5"
              /></svg
            >authkernel</a
          >
          <nav aria-label="Pages">
            ${links.map(([href, text]) => html`<a href="${href}" ${href === path && html`aria-current="page"`}>${text}</a>`)}
          </nav>
          ${session?.user ? html`<form method="post" action="/logout"><button class="small">Sign out</button></form>` : html`<a class="button small" href="/auth/signin?callbackUrl=${encodeURIComponent(path)}">Sign in</a>`}
        </header>
        <main>${content}</main>
      </body>
    </html>`
}

/** The signed-in person at a glance. */
export function personCard(user: NonNullable<Session['user']>): Html {
  const name = user.name ?? user.email ?? 'A user'
  return html`<div class="person">
    ${user.image ? html`<img src="${user.image}" alt="" />` : html`<span class="initial" aria-hidden="true">${name.slice(0, 1).toUpperCase()}</span>`}
    <div><b>${name}</b><span>${user.email}</span></div>
  </div>`
}
