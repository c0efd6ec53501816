/** Every mail of the plugins that are switched on, with invented values, in each language. */
import type { Session } from 'authkernel'
import type { WrittenMail } from 'authkernel/kernel'
import { html, type Html } from '../_shared/html.ts'
import { layout } from './layout.ts'

/** A mail and its name. */
export interface PreviewedMail extends WrittenMail {
  name: string
}

/** Languages of the built-in texts. */
export const mailLanguages: Readonly<Record<string, string>> = { en: 'English', de: 'Deutsch', fr: 'Français', es: 'Español', ja: '日本語' }

export function mailsPage(session: Session | null, mails: readonly PreviewedMail[], lang: string): Html {
  return layout(
    '/mails',
    'Mails',
    session,
    html`<div>
        <h1>Mails</h1>
        <p class="lead">Each mail that the active plugins send, with invented values. Nothing is sent here.</p>
      </div>
      <div class="choices" role="group" aria-label="Language">
        ${Object.entries(mailLanguages).map(
          ([tag, name]) =>
            html`<a class="button small" href="/mails?lang=${tag}" lang="${tag}" ${tag === lang && html`aria-current="true"`}>${name}</a>`,
        )}
      </div>
      ${mails.map(
        ({ name, subject }) =>
          html`<article class="card mail">
            <h2>${subject}</h2>
            <p class="note"><code>${name}</code></p>
            <iframe class="preview" title="${subject}" loading="lazy" sandbox src="/mails/${name}?lang=${lang}"></iframe>
          </article>`,
      )}`,
  )
}
