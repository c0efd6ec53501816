/** `authkernel/kernel/mail`: for plugins that send mails: drawing them, their languages, and limits. */
export { createLanguages } from '../../http/language.ts'
export { breakLinks, drawMail, withoutLinks } from '../../http/mail-message.ts'
export { mailedHostFault } from '../../http/origin.ts'
export { beginMail, isKnownMailbox, mailWithinLimit, rememberMailbox } from '../../request/mail-limit.ts'
