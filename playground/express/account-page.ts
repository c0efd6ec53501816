/** The account page: every way in, and what can be done about it. */
import type { Session } from 'authkernel'
import type { LinkedAccount, ListedSession } from 'authkernel/plugins/accounts'
import { html, type Html } from '../_shared/html.ts'
import { layout, personCard } from './layout.ts'

/** What the store keeps about the person. */
export interface Holdings {
  accounts: readonly LinkedAccount[]
  /** Undefined with the jwt strategy, which stores none. */
  sessions: readonly ListedSession[] | undefined
  /** Somebody tried to give up the last way in. */
  last: boolean
}

export function accountPage(session: Session, { accounts, sessions, last }: Holdings): Html {
  const keys = accounts.filter(({ type }) => type === 'webauthn')
  const others = accounts.filter(({ type }) => type !== 'webauthn')
  const content = html`<div>
      <h1>Your account</h1>
      <p class="lead">Every way in that is listed here leads to the same person.</p>
    </div>
    ${last && html`<p class="card" role="alert">That is the last account: without it, nobody could come in as you. Add another one first.</p>`}
    <section class="card">${personCard(session.user ?? {})}</section>
    <div class="columns">${accountCard(others)}${passkeyCard(keys)}${sessionCard(sessions)}</div>`
  return layout('/account', 'Account', session, content, 'account')
}

const linkable = [
  ['acme', 'Acme ID'],
  ['globex', 'Globex'],
] as const

function accountCard(accounts: readonly LinkedAccount[]): Html {
  const open = linkable.filter(([id]) => !accounts.some(({ provider }) => provider === id))
  return html`<section class="card">
    <h2>Linked accounts</h2>
    <ul class="list" id="accounts">
      ${accounts.length === 0 && html`<li class="note">None: you came in by a link in a mail, or by password.</li>`}
      ${accounts.map(accountLine)}
    </ul>
    <div class="row">
      ${open.map(
        ([id, name]) =>
          html`<form method="post" action="/login/${id}">
            <input type="hidden" name="redirectTo" value="/account" />
            <button>Link ${name}</button>
          </form>`,
      )}
    </div>
  </section>`
}

function passkeyCard(keys: readonly LinkedAccount[]): Html {
  return html`<section class="card">
    <h2>Passkeys</h2>
    <ul class="list" id="passkeys">
      ${keys.length === 0 && html`<li class="note">None yet.</li>`} ${keys.map(accountLine)}
    </ul>
    <div class="row"><button id="add-passkey" type="button">Add a passkey</button></div>
    <p id="passkey-message" role="alert"></p>
  </section>`
}

// Ids are for programs: people know what they pressed.
const names: Readonly<Record<string, string>> = { ...Object.fromEntries(linkable), email: 'Link by mail', passkey: 'Passkey' }

function accountLine({ provider, providerAccountId, type }: LinkedAccount): Html {
  return html`<li>
    <div>
      ${names[provider] ?? provider}<small
        >${type === 'webauthn' ? 'A key on one of your devices' : `Account ${providerAccountId.slice(0, 24)}`}</small
      >
    </div>
    <form method="post" action="/account/unlink">
      <input type="hidden" name="provider" value="${provider}" />
      <input type="hidden" name="providerAccountId" value="${providerAccountId}" />
      <button class="small">Unlink</button>
    </form>
  </li>`
}

function sessionCard(sessions: Holdings['sessions']): Html {
  if (sessions === undefined) {
    return html`<section class="card">
      <h2>Sessions</h2>
      <p>The jwt strategy stores none. Start with <code>AUTH_STRATEGY=database</code> to see and end them here.</p>
    </section>`
  }
  return html`<section class="card">
    <h2>Sessions</h2>
    <ul class="list" id="sessions">
      ${sessions.map(sessionLine)}
    </ul>
    <form method="post" action="/account/end-others"><button>End all others</button></form>
  </section>`
}

function sessionLine({ createdAt, current, expires }: ListedSession): Html {
  const minute = (date: Date): string => `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return html`<li>
    <div>
      ${current ? 'This browser' : 'Another browser'}<small>${createdAt && `since ${minute(createdAt)}, `}until ${minute(expires)}</small>
    </div>
  </li>`
}
