/** What clients send and users type: texts, addresses of mailboxes, names of domains. */
import { toAddress } from 'authkernel/kernel'

type Input<R extends string, O extends string> = { [K in R]: string } & { [K in O]?: string }

/** Throws TypeError for anything but an object with these texts; numbers and other fields are left out. */
export function readTexts<const R extends string = never, const O extends string = never>(
  required: readonly R[],
  optional: readonly O[] = [],
): (sent: unknown) => Input<R, O> {
  return (sent) => {
    const fields = Object(sent) as Record<string, unknown>
    const found: Record<string, string> = {}
    for (const name of required) found[name] = readText(fields[name])
    for (const name of optional) if (fields[name] !== undefined && fields[name] !== null) found[name] = readText(fields[name])
    return found as Input<R, O>
  }
}

function readText(value: unknown): string {
  if (typeof value !== 'string' || value.length > 1000) throw new TypeError('a text of at most 1000 characters')
  return value
}

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Whether two addresses are of one mailbox in whatever spelling a provider or a store has them; false for what is no address. */
export function isSameMailbox(one: unknown, other: unknown): boolean {
  const mailbox = toAddress(one)
  return mailbox !== undefined && mailbox === toAddress(other)
}

/** A domain name in small ASCII letters, of at least two labels; undefined for anything else, addresses of machines too. */
export function domainOf(typed: unknown): string | undefined {
  if (typeof typed !== 'string' || typed.length > 512 || /[\s/:?#@\\%[\]]/.test(typed) || !URL.canParse(`http://${typed}`)) return undefined
  const host = new URL(`http://${typed}`).hostname.replace(/\.$/, '')
  const labels = host.split('.')
  // A last label of digits makes an IPv4 address of it.
  const fits = labels.length > 1 && host.length <= 253 && labels.every((one) => label.test(one)) && !/^\d+$/.test(labels.at(-1) as string)
  return fits ? host : undefined
}
