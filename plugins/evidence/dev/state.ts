/** What the panel shows, in memory, and how far its clock is ahead. Nothing of it is stored. */
import { type CookieHandle, createCookie, type MailMessage } from 'authkernel/kernel'

/** What the link to the panel gives to the browser. */
export const panelCookie: CookieHandle = /* @__PURE__ */ createCookie('dev', { path: 'base', sameSite: 'strict' })

/** A mail or a message that the app sent. */
export interface CaughtMail {
  readonly at: number
  readonly to: string
  readonly subject: string
  readonly text: string
  /** Address of its button. */
  readonly url: string | undefined
}
/** One request with its trace. */
export interface TracedRequest {
  readonly id: string
  readonly at: number
  readonly lines: string[]
}
/** What a handler of a hook answered last. */
export interface LastAnswer {
  readonly answer: string
  readonly at: number
}
/** All of it. The newest of each list comes first. */
export interface DevState {
  /** Milliseconds that the clock of the app is ahead of the real one. */
  offset: number
  /** Whether the link to the panel was printed. */
  isAnnounced: boolean
  readonly mails: CaughtMail[]
  readonly requests: TracedRequest[]
  /** By the name of the hook and of the plugin: `signIn host`. */
  readonly answers: Map<string, LastAnswer>
}

const mostMails = 50
const mostRequests = 50
const mostLines = 200

export function createState(): DevState {
  return { offset: 0, isAnnounced: false, mails: [], requests: [], answers: new Map() }
}

export function keepMail(
  state: DevState,
  { to, subject, text, url }: Pick<MailMessage, 'to' | 'subject' | 'text' | 'url'>,
  at: number,
): void {
  state.mails.unshift({ at, to, subject, text, url })
  state.mails.length = Math.min(state.mails.length, mostMails)
}

/** Adds a line to the request of this id; the first line begins one. */
export function keepLine(state: DevState, id: string, line: string, at: number): void {
  const known = state.requests.find((request) => request.id === id)
  if (known) {
    if (known.lines.length < mostLines) known.lines.push(line)
    return
  }
  state.requests.unshift({ id, at, lines: [line] })
  state.requests.length = Math.min(state.requests.length, mostRequests)
}
