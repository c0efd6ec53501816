/** Texts of sign-in by text message: those of codes under names of their own, and what is different. */
import type { Messages } from 'authkernel/kernel'
import { messages } from '../codes/messages.ts'

const sharedTexts = ['title', 'code', 'continue', 'again', 'valid', 'never-tell'] as const
const own = {
  en: [
    'Phone number',
    'Text me a code',
    'If the number can be used, we sent a code to {to}.',
    'This is not my account: the number is new to me',
  ],
  de: [
    'Telefonnummer',
    'Code per SMS',
    'Wenn die Nummer benutzt werden kann, haben wir einen Code an {to} geschickt.',
    'Das ist nicht mein Konto: Die Nummer ist neu für mich',
  ],
  fr: [
    'Numéro de téléphone',
    'Recevoir un code par SMS',
    'Si le numéro peut être utilisé, nous avons envoyé un code au {to}.',
    'Ce n’est pas mon compte : ce numéro est nouveau pour moi',
  ],
  es: [
    'Número de teléfono',
    'Recibir un código por SMS',
    'Si el número puede usarse, hemos enviado un código a {to}.',
    'No es mi cuenta: el número es nuevo para mí',
  ],
  ja: [
    '電話番号',
    'コードをSMSで受け取る',
    '番号が利用できる場合、{to} にコードを送信しました。',
    '自分のアカウントではありません（新しく取得した番号です）',
  ],
} as const

/** By language. */
export function messagesOf(): Messages {
  return Object.fromEntries(
    (Object.keys(own) as (keyof typeof own)[]).map((lang) => {
      const [label, submit, lead, newcomer] = own[lang]
      const texts: Record<string, string> = {
        'text:Phone number': label,
        'text:Text me a code': submit,
        'phone.lead': lead,
        'phone.newcomer': newcomer,
      }
      for (const key of sharedTexts) texts[`phone.${key}`] = messages[lang][`codes.${key}`]
      for (const key of ['error.WrongCode', 'error.TooManyCodes', 'error.UnknownRecipient'] as const) texts[key] = messages[lang][key]
      return [lang, texts]
    }),
  )
}
