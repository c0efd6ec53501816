/** Texts of the mails in five languages. */
import type { Messages } from 'authkernel/kernel'

const en = {
  'admission.mail.invited': 'You are invited to {site}',
  'admission.mail.invited-text': 'Open the link to sign up with this email address.',
  'admission.mail.approved': 'You can sign up at {site} now',
  'admission.mail.approved-text': 'It is your turn on the waitlist. Open the link to sign up with this email address.',
  'admission.mail.waiting': 'You are on the waitlist of {site}',
  'admission.mail.waiting-text': 'Thank you for your interest. We email you when it is your turn.',
  'admission.mail.open': 'Sign up',
  'admission.mail.left': 'The link is valid for {left}.',
  'admission.mail.ignore': 'If you did not ask for this, you can ignore this email.',
}
type Keys = Record<keyof typeof en, string>
const de: Keys = {
  'admission.mail.invited': 'Sie sind zu {site} eingeladen',
  'admission.mail.invited-text': 'Öffnen Sie den Link, um sich mit dieser E-Mail-Adresse zu registrieren.',
  'admission.mail.approved': 'Sie können sich jetzt bei {site} registrieren',
  'admission.mail.approved-text':
    'Sie sind auf der Warteliste an der Reihe. Öffnen Sie den Link, um sich mit dieser E-Mail-Adresse zu registrieren.',
  'admission.mail.waiting': 'Sie stehen auf der Warteliste von {site}',
  'admission.mail.waiting-text': 'Vielen Dank für Ihr Interesse. Wir schreiben Ihnen, wenn Sie an der Reihe sind.',
  'admission.mail.open': 'Registrieren',
  'admission.mail.left': 'Der Link ist {left} gültig.',
  'admission.mail.ignore': 'Wenn Sie das nicht angefordert haben, können Sie diese E-Mail ignorieren.',
}
const fr: Keys = {
  'admission.mail.invited': 'Vous êtes invité sur {site}',
  'admission.mail.invited-text': 'Ouvrez le lien pour vous inscrire avec cette adresse e-mail.',
  'admission.mail.approved': 'Vous pouvez maintenant vous inscrire sur {site}',
  'admission.mail.approved-text': 'C’est votre tour sur la liste d’attente. Ouvrez le lien pour vous inscrire avec cette adresse e-mail.',
  'admission.mail.waiting': 'Vous êtes sur la liste d’attente de {site}',
  'admission.mail.waiting-text': 'Merci de votre intérêt. Nous vous écrirons quand ce sera votre tour.',
  'admission.mail.open': 'S’inscrire',
  'admission.mail.left': 'Le lien est valable {left}.',
  'admission.mail.ignore': 'Si vous n’avez rien demandé, ignorez cet e-mail.',
}
const es: Keys = {
  'admission.mail.invited': 'Tiene una invitación de {site}',
  'admission.mail.invited-text': 'Abra el enlace para registrarse con esta dirección de correo.',
  'admission.mail.approved': 'Ya puede registrarse en {site}',
  'admission.mail.approved-text': 'Es su turno en la lista de espera. Abra el enlace para registrarse con esta dirección de correo.',
  'admission.mail.waiting': 'Está en la lista de espera de {site}',
  'admission.mail.waiting-text': 'Gracias por su interés. Le escribiremos cuando sea su turno.',
  'admission.mail.open': 'Registrarse',
  'admission.mail.left': 'El enlace es válido durante {left}.',
  'admission.mail.ignore': 'Si no ha pedido esto, ignore este correo.',
}
const ja: Keys = {
  'admission.mail.invited': '{site} への招待',
  'admission.mail.invited-text': 'リンクを開いて、このメールアドレスで登録してください。',
  'admission.mail.approved': '{site} に登録できるようになりました',
  'admission.mail.approved-text': '順番待ちリストの順番が来ました。リンクを開いて、このメールアドレスで登録してください。',
  'admission.mail.waiting': '{site} の順番待ちリストに登録しました',
  'admission.mail.waiting-text': 'ご関心をお寄せいただきありがとうございます。順番が来たらメールでお知らせします。',
  'admission.mail.open': '登録',
  'admission.mail.left': 'リンクの有効期間: {left}',
  'admission.mail.ignore': '心当たりがない場合は、このメールを無視してください。',
}
export const mailMessages: Messages = { en, de, fr, es, ja }
