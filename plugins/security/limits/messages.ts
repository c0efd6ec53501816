/** Texts of the notice. */
import type { Messages } from 'authkernel/kernel'

export const messages: Messages = {
  en: {
    'limits.notice.subject': 'Many failed sign-ins at {site}',
    'limits.notice.what': 'There were many failed attempts to sign in to your account at {site}. The last time was {time}.',
    'limits.notice.from': 'The last request came from the network address {address}.',
    'limits.notice.do': 'If it was not you, your account is still closed to them. Choose a password that you use nowhere else.',
    'limits.notice.note': 'You get this message at most once a day.',
  },
  de: {
    'limits.notice.subject': 'Viele fehlgeschlagene Anmeldungen bei {site}',
    'limits.notice.what':
      'Jemand hat viele Male vergeblich versucht, sich bei {site} mit Ihrem Konto anzumelden. Das letzte Mal war {time}.',
    'limits.notice.from': 'Die letzte Anfrage kam von der Netzwerkadresse {address}.',
    'limits.notice.do':
      'Wenn Sie es nicht waren: Ihr Konto ist weiterhin geschützt. Wählen Sie ein Passwort, das Sie nirgends sonst benutzen.',
    'limits.notice.note': 'Sie erhalten diese Nachricht höchstens einmal am Tag.',
  },
  fr: {
    'limits.notice.subject': 'Nombreuses connexions échouées sur {site}',
    'limits.notice.what':
      'Quelqu’un a essayé de nombreuses fois, sans succès, de se connecter à votre compte sur {site}. Dernière tentative : {time}.',
    'limits.notice.from': 'La dernière requête venait de l’adresse réseau {address}.',
    'limits.notice.do':
      'Si ce n’était pas vous, votre compte reste fermé pour cette personne. Choisissez un mot de passe que vous n’utilisez nulle part ailleurs.',
    'limits.notice.note': 'Vous recevez ce message une fois par jour au plus.',
  },
  es: {
    'limits.notice.subject': 'Muchos inicios de sesión fallidos en {site}',
    'limits.notice.what': 'Alguien ha intentado muchas veces, sin éxito, entrar en su cuenta de {site}. La última vez fue {time}.',
    'limits.notice.from': 'La última solicitud vino de la dirección de red {address}.',
    'limits.notice.do': 'Si no fue usted, su cuenta sigue cerrada para esa persona. Elija una contraseña que no use en ningún otro sitio.',
    'limits.notice.note': 'Recibe este mensaje como máximo una vez al día.',
  },
  ja: {
    'limits.notice.subject': '{site} でログインの失敗が続いています',
    'limits.notice.what': '{site} のあなたのアカウントへのログインが何度も試みられ、失敗しました。最後の試みは {time} です。',
    'limits.notice.from': '最後のリクエストの送信元は {address} です。',
    'limits.notice.do': 'お心当たりがない場合も、アカウントは守られています。ほかで使っていないパスワードを設定してください。',
    'limits.notice.note': 'このメールは 1 日に 1 回までお送りします。',
  },
}
