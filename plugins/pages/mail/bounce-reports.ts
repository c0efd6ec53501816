/** What mailers report, read from the forms of Resend, Postmark, Mailgun and SES. Only what is final counts: a full mailbox gets the next mail. */

/** One address that gets no more mails. */
export interface BounceReport {
  email: string
  reason: 'bounce' | 'complaint'
}

type Json = Readonly<Record<string, unknown>>

/** Reports of one body by mailer. What is not understood, or not final, is none. */
export const readReports: Readonly<Record<'resend' | 'postmark' | 'mailgun' | 'ses', (body: Json) => BounceReport[]>> = {
  resend({ type, data }) {
    const { to, bounce } = objectOf(data)
    if (type === 'email.complained') return listOf(to, 'complaint')
    // Without a kind it is a hard one: transient failures are `email.delivery_delayed`.
    return type === 'email.bounced' && /^(?:permanent|undefined)$/i.test(String(objectOf(bounce)['type'])) ? listOf(to, 'bounce') : []
  },
  postmark({ RecordType: kind, Type: type, Email: email }) {
    if (kind === 'SpamComplaint') return listOf(email, 'complaint')
    return kind === 'Bounce' && ['HardBounce', 'BadEmailAddress', 'ManuallyDeactivated'].includes(String(type))
      ? listOf(email, 'bounce')
      : []
  },
  mailgun({ 'event-data': data }) {
    const { event, severity, recipient } = objectOf(data)
    if (event === 'complained') return listOf(recipient, 'complaint')
    return event === 'failed' && severity === 'permanent' ? listOf(recipient, 'bounce') : []
  },
  ses({ notificationType, eventType, bounce, complaint }) {
    const kind = notificationType ?? eventType
    const { bounceType, bouncedRecipients } = objectOf(bounce)
    if (kind === 'Complaint') return listOf(addressesOf(objectOf(complaint)['complainedRecipients']), 'complaint')
    return kind === 'Bounce' && bounceType === 'Permanent' ? listOf(addressesOf(bouncedRecipients), 'bounce') : []
  },
}

function addressesOf(recipients: unknown): unknown[] {
  return Array.isArray(recipients) ? recipients.map((one) => objectOf(one)['emailAddress']) : []
}

function listOf(emails: unknown, reason: BounceReport['reason']): BounceReport[] {
  const all: unknown[] = Array.isArray(emails) ? emails : [emails]
  return all
    .filter((email): email is string => typeof email === 'string')
    .slice(0, 50)
    .map((email) => ({ email: bareAddress(email), reason }))
}

/** `ada@example.com` of `Ada <ada@example.com>`. */
function bareAddress(text: string): string {
  const from = text.lastIndexOf('<')
  return from >= 0 && text.endsWith('>') ? text.slice(from + 1, -1) : text
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}
