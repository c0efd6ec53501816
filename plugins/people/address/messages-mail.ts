/** Texts of the mails in five languages. */
import type { Messages } from 'authkernel/kernel'

const en = {
  'address.mail.confirm': 'Your new address at {site}',
  'address.mail.confirm-text': 'There is a request to use this address for an account. Sign in to that account and open the link.',
  'address.mail.confirm-button': 'Use this address',
  'address.mail.left': 'The link works once. It is valid for {left}.',
  'address.mail.ignore': 'If this was not you, you can ignore this email. Nothing changes.',
  'address.mail.taken': 'You have an account at {site}',
  'address.mail.taken-text':
    'There was a request to use this address for another account. It already has an account, so nothing was changed.',
  'address.mail.changed': 'Your address at {site} was changed',
  'address.mail.changed-text': 'At {at} your account got the address {to}. Mails go there from now on.',
  'address.mail.undo-button': 'Take the change back',
  'address.mail.not-you': 'If this was not you, take the change back: your account gets this address again, and every session ends.',
  'address.mail.restored': 'Your address at {site} is back',
  'address.mail.restored-text': 'At {at} your account got this address again. Every session was ended.',
  'address.mail.password': 'If you have a password, choose a new one, and check your sign-in methods.',
}
type Keys = Record<keyof typeof en, string>
const de: Keys = {
  'address.mail.confirm': 'Ihre neue Adresse bei {site}',
  'address.mail.confirm-text': 'Jemand möchte diese Adresse für ein Konto verwenden. Melden Sie sich dort an und öffnen Sie den Link.',
  'address.mail.confirm-button': 'Diese Adresse verwenden',
  'address.mail.left': 'Der Link funktioniert einmal. Er ist {left} gültig.',
  'address.mail.ignore': 'Wenn Sie das nicht waren, können Sie diese E-Mail ignorieren. Es ändert sich nichts.',
  'address.mail.taken': 'Sie haben ein Konto bei {site}',
  'address.mail.taken-text':
    'Jemand wollte diese Adresse für ein anderes Konto verwenden. Sie hat schon ein Konto, deshalb wurde nichts geändert.',
  'address.mail.changed': 'Ihre Adresse bei {site} wurde geändert',
  'address.mail.changed-text': 'Ihr Konto erhielt am {at} die Adresse {to}. E-Mails gehen ab jetzt dorthin.',
  'address.mail.undo-button': 'Änderung zurücknehmen',
  'address.mail.not-you':
    'Waren Sie das nicht, dann nehmen Sie die Änderung zurück: Ihr Konto erhält diese Adresse wieder, und alle Sitzungen enden.',
  'address.mail.restored': 'Ihre Adresse bei {site} gilt wieder',
  'address.mail.restored-text': 'Ihr Konto erhielt am {at} diese Adresse zurück. Alle Sitzungen wurden beendet.',
  'address.mail.password': 'Wenn Sie ein Passwort haben, wählen Sie ein neues, und prüfen Sie Ihre Anmeldewege.',
}
const fr: Keys = {
  'address.mail.confirm': 'Votre nouvelle adresse sur {site}',
  'address.mail.confirm-text': 'Quelqu’un veut utiliser cette adresse pour un compte. Connectez-vous à ce compte et ouvrez le lien.',
  'address.mail.confirm-button': 'Utiliser cette adresse',
  'address.mail.left': 'Le lien fonctionne une fois. Il est valable {left}.',
  'address.mail.ignore': 'Si ce n’était pas vous, ignorez cet e-mail. Rien ne change.',
  'address.mail.taken': 'Vous avez un compte sur {site}',
  'address.mail.taken-text': 'Quelqu’un voulait utiliser cette adresse pour un autre compte. Elle a déjà un compte : rien n’a été changé.',
  'address.mail.changed': 'Votre adresse sur {site} a été changée',
  'address.mail.changed-text': 'Le {at}, votre compte a reçu l’adresse {to}. Les e-mails y sont désormais envoyés.',
  'address.mail.undo-button': 'Annuler le changement',
  'address.mail.not-you':
    'Si ce n’était pas vous, annulez le changement : votre compte reprend cette adresse et toutes les sessions prennent fin.',
  'address.mail.restored': 'Votre adresse sur {site} est rétablie',
  'address.mail.restored-text': 'Le {at}, votre compte a repris cette adresse. Toutes les sessions ont pris fin.',
  'address.mail.password': 'Si vous avez un mot de passe, choisissez-en un nouveau et vérifiez vos modes de connexion.',
}
const es: Keys = {
  'address.mail.confirm': 'Su nueva dirección en {site}',
  'address.mail.confirm-text': 'Alguien quiere usar esta dirección para una cuenta. Inicie sesión en esa cuenta y abra el enlace.',
  'address.mail.confirm-button': 'Usar esta dirección',
  'address.mail.left': 'El enlace funciona una vez. Es válido durante {left}.',
  'address.mail.ignore': 'Si no ha sido usted, ignore este correo. No cambia nada.',
  'address.mail.taken': 'Tiene una cuenta en {site}',
  'address.mail.taken-text': 'Alguien quería usar esta dirección para otra cuenta. Ya tiene una cuenta, así que no se cambió nada.',
  'address.mail.changed': 'Su dirección en {site} ha cambiado',
  'address.mail.changed-text': 'El {at} su cuenta recibió la dirección {to}. Los correos van allí desde ahora.',
  'address.mail.undo-button': 'Deshacer el cambio',
  'address.mail.not-you': 'Si no ha sido usted, deshaga el cambio: su cuenta recupera esta dirección y se cierran todas las sesiones.',
  'address.mail.restored': 'Su dirección en {site} está de vuelta',
  'address.mail.restored-text': 'El {at} su cuenta recuperó esta dirección. Se cerraron todas las sesiones.',
  'address.mail.password': 'Si tiene una contraseña, elija una nueva y revise sus formas de iniciar sesión.',
}
const ja: Keys = {
  'address.mail.confirm': '{site} の新しいアドレス',
  'address.mail.confirm-text':
    'このアドレスをアカウントで使用する申し込みがありました。そのアカウントにサインインして、リンクを開いてください。',
  'address.mail.confirm-button': 'このアドレスを使用',
  'address.mail.left': 'リンクは 1 回だけ使えます。有効期間: {left}',
  'address.mail.ignore': '心当たりがない場合は、このメールを無視してください。何も変更されません。',
  'address.mail.taken': '{site} のアカウントをお持ちです',
  'address.mail.taken-text':
    'このアドレスを別のアカウントで使用する申し込みがありました。すでにアカウントがあるため、何も変更されていません。',
  'address.mail.changed': '{site} のアドレスが変更されました',
  'address.mail.changed-text': '{at} にアカウントのアドレスが {to} になりました。今後のメールはそちらに届きます。',
  'address.mail.undo-button': '変更を取り消す',
  'address.mail.not-you':
    '心当たりがない場合は、変更を取り消してください。アカウントのアドレスが元に戻り、すべてのセッションが終了します。',
  'address.mail.restored': '{site} のアドレスを元に戻しました',
  'address.mail.restored-text': '{at} にアカウントのアドレスがこのアドレスに戻りました。すべてのセッションを終了しました。',
  'address.mail.password': 'パスワードをお使いの場合は新しいものを設定し、サインイン方法をご確認ください。',
}
export const mailMessages: Messages = { en, de, fr, es, ja }
