/** Texts of sign-in by text message: those of codes under names of their own, and what is different. */
import type { Messages } from 'authkernel/kernel'
import { messages } from './messages.ts'

const shared = ['title', 'code', 'continue', 'again', 'valid', 'never-tell'] as const
const own = {
  en: ['Phone number', 'Text me a code', 'If the number can be used, we sent a code to {to}.'],
  de: ['Telefonnummer', 'Code per SMS', 'Wenn die Nummer benutzt werden kann, haben wir einen Code an {to} geschickt.'],
  fr: ['Numéro de téléphone', 'Recevoir un code par SMS', 'Si le numéro peut être utilisé, nous avons envoyé un code au {to}.'],
  es: ['Número de teléfono', 'Recibir un código por SMS', 'Si el número puede usarse, hemos enviado un código a {to}.'],
  ja: ['電話番号', 'コードをSMSで受け取る', '番号が利用できる場合、{to} にコードを送信しました。'],
} as const

/** By language. */
export function messagesOf(): Messages {
  return Object.fromEntries(
    (Object.keys(own) as (keyof typeof own)[]).map((lang) => {
      const [label, submit, lead] = own[lang]
      const texts: Record<string, string> = { 'text:Phone number': label, 'text:Text me a code': submit, 'phone.lead': lead }
      for (const key of shared) texts[`phone.${key}`] = messages[lang][`codes.${key}`]
      for (const key of ['error.WrongCode', 'error.TooManyCodes', 'error.UnknownRecipient'] as const) texts[key] = messages[lang][key]
      return [lang, texts]
    }),
  )
}
