/** Invented values for a mail: for pages that show all mails of an app. */
import type { AnyContext, MailTemplate, MailValue } from 'authkernel/kernel'
import { languageOf, placeholdersOf, siteOf } from './write.ts'

// By the end of the name: `{addedBy}` is a name, `{newAddress}` an address.
const samples: readonly (readonly [RegExp, MailValue])[] = [
  [/code$/i, '204981'],
  [/(email|address|recipient|to)$/i, 'ann@example.com'],
  [/(at|time|date|until|expires|since)$/i, new Date('2026-01-15T09:30:00Z')],
  [/(duration|left|within|validity)$/i, { seconds: 900 }],
  [/(count|number|uses|tries)$/i, 3],
  [/(device|browser|agent)$/i, 'Firefox on Windows'],
  [/(organization|team|app|client)$/i, 'Acme'],
  [/role$/i, 'member'],
]

/** A value for each placeholder of the template, for its code and for its button. */
export function inventValues(ctx: AnyContext, template: MailTemplate, lang?: string): Record<string, MailValue> {
  const { subject, heading = subject, lines, after = [], note, button, code } = template
  const language = languageOf(ctx, lang)
  const keys = [subject, heading, ...lines, ...after, ...(note === undefined ? [] : [note]), ...(button ? [button.text] : [])]
  const names = keys.flatMap((key) => placeholdersOf(language.find(key) ?? '')).filter((name) => name !== 'site')
  const values: Record<string, MailValue> = Object.fromEntries(names.map((name) => [name, sampleOf(name)]))
  // A job knows no host of the app.
  if (siteOf(ctx, undefined) === '') values.site = 'app.example'
  return { ...values, ...(code && { [code]: '204981' }), ...(button && { [button.url]: 'https://app.example/auth/link?token=sample' }) }
}

function sampleOf(name: string): MailValue {
  return samples.find(([pattern]) => pattern.test(name))?.[1] ?? 'Ann Example'
}
