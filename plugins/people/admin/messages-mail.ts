/** Texts of the mails in five languages. */
import type { Messages } from 'authkernel/kernel'

const en = {
  'admin.mail.invited': 'Your account at {site}',
  'admin.mail.invited-text': 'An administrator of {site} made an account for you. Open the link and sign in with this address.',
  'admin.mail.open': 'Sign in',
  'admin.mail.ignore': 'If you do not expect this, you can ignore this email.',
}
type Keys = Record<keyof typeof en, string>
const de: Keys = {
  'admin.mail.invited': 'Ihr Konto bei {site}',
  'admin.mail.invited-text':
    'Die Administration von {site} hat ein Konto für Sie angelegt. Öffnen Sie den Link und melden Sie sich mit dieser Adresse an.',
  'admin.mail.open': 'Anmelden',
  'admin.mail.ignore': 'Wenn Sie das nicht erwarten, können Sie diese E-Mail ignorieren.',
}
const fr: Keys = {
  'admin.mail.invited': 'Votre compte sur {site}',
  'admin.mail.invited-text': 'L’administration de {site} a créé un compte pour vous. Ouvrez le lien et connectez-vous avec cette adresse.',
  'admin.mail.open': 'Se connecter',
  'admin.mail.ignore': 'Si vous ne vous attendiez pas à cet e-mail, vous pouvez l’ignorer.',
}
const es: Keys = {
  'admin.mail.invited': 'Su cuenta en {site}',
  'admin.mail.invited-text':
    'La administración de {site} ha creado una cuenta para usted. Abra el enlace e inicie sesión con esta dirección.',
  'admin.mail.open': 'Iniciar sesión',
  'admin.mail.ignore': 'Si no esperaba este correo, puede ignorarlo.',
}
const ja: Keys = {
  'admin.mail.invited': '{site} のアカウント',
  'admin.mail.invited-text':
    '{site} の管理者があなたのアカウントを作成しました。リンクを開き、このメールアドレスでサインインしてください。',
  'admin.mail.open': 'サインイン',
  'admin.mail.ignore': '心当たりがない場合は、このメールを無視してください。',
}
export const mailMessages: Messages = { en, de, fr, es, ja }
