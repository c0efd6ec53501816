/** Texts of the mail with the sign-in link. */
import type { Messages } from 'authkernel/kernel'

export const en = {
  'email.link.subject': 'Sign in to {site}',
  'email.link.submit': 'Sign in',
  'email.link.validity': 'The link works once and expires in {duration}.',
  'email.link.ignore': 'If you did not ask for this email, you can ignore it: the link does nothing until it is used.',
}
type Keys = Record<keyof typeof en, string>

const de: Keys = {
  'email.link.subject': 'Anmelden bei {site}',
  'email.link.submit': 'Anmelden',
  'email.link.validity': 'Der Link gilt einmal. Gültigkeit: {duration}.',
  'email.link.ignore': 'Haben Sie diese E-Mail nicht angefordert, dann können Sie sie ignorieren: Ohne den Link wird niemand angemeldet.',
}
const fr: Keys = {
  'email.link.subject': 'Connexion à {site}',
  'email.link.submit': 'Se connecter',
  'email.link.validity': 'Le lien ne fonctionne qu’une fois. Durée de validité : {duration}.',
  'email.link.ignore': 'Si vous n’avez pas demandé cet e-mail, ignorez-le : personne n’est connecté tant que le lien n’est pas utilisé.',
}
const es: Keys = {
  'email.link.subject': 'Iniciar sesión en {site}',
  'email.link.submit': 'Iniciar sesión',
  'email.link.validity': 'El enlace funciona una sola vez. Validez: {duration}.',
  'email.link.ignore': 'Si no ha pedido este correo, puede ignorarlo: nadie inicia sesión hasta que se use el enlace.',
}
const ja: Keys = {
  'email.link.subject': '{site} へのログイン',
  'email.link.submit': 'ログイン',
  'email.link.validity': 'リンクは一度だけ使えます。有効期間は{duration}です。',
  'email.link.ignore': 'このメールに心当たりがない場合は、無視してください。リンクが使われるまで、誰もログインしません。',
}
export const messages: Messages = { en, de, fr, es, ja }
