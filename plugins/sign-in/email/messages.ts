/** Texts of the mail with the sign-in link, and of the page that follows. */
import type { Messages } from 'authkernel/kernel'

export const en = {
  'email.link.subject': 'Sign in to {site}',
  'email.link.submit': 'Sign in',
  'email.link.validity': 'The link works once and expires in {duration}.',
  'email.link.ignore': 'If you did not ask for this email, you can ignore it: the link does nothing until it is used.',
  'email.resend': 'Send it again',
}
type Keys = Record<keyof typeof en, string>

const de: Keys = {
  'email.link.subject': 'Anmelden bei {site}',
  'email.link.submit': 'Anmelden',
  'email.link.validity': 'Der Link gilt einmal. Gültigkeit: {duration}.',
  'email.link.ignore':
    'Wenn Sie diese E-Mail nicht angefordert haben, können Sie sie ignorieren: Der Link bewirkt nichts, solange er nicht benutzt wird.',
  'email.resend': 'Erneut senden',
}
const fr: Keys = {
  'email.link.subject': 'Connexion à {site}',
  'email.link.submit': 'Se connecter',
  'email.link.validity': 'Le lien ne fonctionne qu’une fois. Durée de validité : {duration}.',
  'email.link.ignore': 'Si vous n’avez pas demandé cet e-mail, ignorez-le : le lien n’a aucun effet tant qu’il n’est pas utilisé.',
  'email.resend': 'Renvoyer',
}
const es: Keys = {
  'email.link.subject': 'Iniciar sesión en {site}',
  'email.link.submit': 'Iniciar sesión',
  'email.link.validity': 'El enlace funciona una sola vez. Validez: {duration}.',
  'email.link.ignore': 'Si no ha pedido este correo, puede ignorarlo: el enlace no hace nada hasta que se usa.',
  'email.resend': 'Enviar de nuevo',
}
const ja: Keys = {
  'email.link.subject': '{site} へのログイン',
  'email.link.submit': 'ログイン',
  'email.link.validity': 'リンクは一度だけ使えます。有効期間は{duration}です。',
  'email.link.ignore': 'このメールに心当たりがない場合は、無視してください。リンクは使われるまで何も起こりません。',
  'email.resend': 'もう一度送る',
}
export const messages: Messages = { en, de, fr, es, ja }
