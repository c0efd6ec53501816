/** Addresses of people and domains, as they are compared. What people type is read by the kernel's `toAddress`, as at every sign-in. */
import { toAddress } from 'authkernel/kernel'

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Whether two addresses are of one mailbox, in whatever spelling a provider or a store has them; false for what is no address. */
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
