/** Events that this server sends, and what ends with which of them: CAEP 1.0 and RISC 1.0. */
import type { AccessSelector, EndReason } from 'authkernel/kernel'

const ssf = 'https://schemas.openid.net/secevent/ssf/event-type'
/** URIs of the events that a stream can ask for. */
export const eventTypes = {
  sessionRevoked: 'https://schemas.openid.net/secevent/caep/event-type/session-revoked',
  accountDisabled: 'https://schemas.openid.net/secevent/risc/event-type/account-disabled',
  accountEnabled: 'https://schemas.openid.net/secevent/risc/event-type/account-enabled',
  accountPurged: 'https://schemas.openid.net/secevent/risc/event-type/account-purged',
} as const
/** URI of an event that the transmitter sends. */
export type EventType = (typeof eventTypes)[keyof typeof eventTypes]

export const supportedEvents: readonly EventType[] = Object.values(eventTypes)
/** Events about the stream itself, which every stream gets. */
export const verificationEvent: string = `${ssf}/verification`
export const streamUpdatedEvent: string = `${ssf}/stream-updated`

const disabling: readonly EndReason[] = ['ban', 'directory', 'accountDisabled']

/** What an ending of access means to receivers: the sessions ended, and perhaps the account with them. */
export function eventsOfEnding(which: AccessSelector, reason: EndReason): readonly EventType[] {
  if ('member' in which) return [eventTypes.sessionRevoked, eventTypes.accountDisabled]
  if (reason === 'deletion') return [eventTypes.sessionRevoked, eventTypes.accountPurged]
  return disabling.includes(reason) ? [eventTypes.sessionRevoked, eventTypes.accountDisabled] : [eventTypes.sessionRevoked]
}
