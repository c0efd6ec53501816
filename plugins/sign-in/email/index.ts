/** Sign-in by a link in a mail, and the mail for hosts that send it themselves. */
export { createMessage, type Message, type MessageOptions } from './message.ts'
export type { EmailInput } from './options.ts'
export { emailPlugin } from './plugin.ts'
