/** The shop window: every plugin with a switch and what it registered, and what the last requests asked. */
import type { Session } from 'authkernel'
import { html, type Html } from '../_shared/html.ts'
import { layout } from './layout.ts'
import type { Registered, Switched } from './switches.ts'
import type { Watched } from './watch.ts'

/** What the page is made of. */
export interface Window {
  groups: Readonly<Record<string, readonly Switched[]>>
  log: readonly Watched[]
  /** Why the last switch stayed as it was. */
  fault?: string | undefined
}

export function pluginsPage(session: Session | null, { groups, log, fault }: Window): Html {
  return layout(
    '/plugins',
    'Plugins',
    session,
    html`<div>
        <h1>Plugins</h1>
        <p class="lead">Switch them while the server runs. Requests that are under way finish with the plugins that they began with.</p>
      </div>
      ${fault && html`<p class="card" role="alert">${fault}</p>`}
      <section class="card" id="requests">
        <h2>Last requests</h2>
        <p class="note">Hooks and events of each request to <code>/auth</code>, in their order. Reload after you have done something.</p>
        ${log.length === 0 ? html`<p class="empty">No request yet. <a href="/auth/signin">Open the sign-in page</a>.</p>` : log.slice(0, 10).map(requestLine)}
      </section>
      ${Object.entries(groups).map(
        ([group, entries]) =>
          html`<section class="card">
            <h2>${group}</h2>
            <ul class="list">
              ${entries.map(switchLine)}
            </ul>
          </section>`,
      )}`,
  )
}

function requestLine({ method, path, status, steps }: Watched): Html {
  return html`<details>
    <summary>
      <code>${method} ${path}</code> ${status === undefined ? 'runs' : String(status)}, ${steps.length}
      ${steps.length === 1 ? 'step' : 'steps'}
    </summary>
    <ol>
      ${steps.map(
        ({ kind, name, plugins, took }) =>
          html`<li>
            <span class="tag">${kind}</span> ${name}${plugins.length > 0 && ` by ${plugins.join(', ')}`} <small>${String(took)} ms</small>
          </li>`,
      )}
    </ol>
  </details>`
}

function switchLine({ id, text, active, registered }: Switched): Html {
  return html`<li id="plugin-${id}">
    <div>
      ${id}<small>${text}</small>
      ${active && details(registered)}
    </div>
    <form method="post" action="/plugins">
      <input type="hidden" name="id" value="${id}" />
      <input type="hidden" name="on" value="${active ? '' : 'yes'}" />
      <button class="small" aria-label="Switch ${active ? 'off' : 'on'} ${id}">${active ? 'Switch off' : 'Switch on'}</button>
    </form>
  </li>`
}

function details(registered: Registered): Html {
  const parts = Object.entries(registered).filter(([, names]) => (names as readonly string[]).length > 0) as [string, readonly string[]][]
  const summary = parts.map(([kind, names]) => `${names.length} ${kind}`).join(', ')
  return html`<details>
    <summary>Registered: ${summary === '' ? 'nothing' : summary}</summary>
    <dl>
      ${parts.map(
        ([kind, names]) =>
          html`<dt>${kind}</dt>
            <dd>${names.join(', ')}</dd>`,
      )}
    </dl>
  </details>`
}
