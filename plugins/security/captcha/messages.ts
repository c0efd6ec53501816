/** Texts of the widget and of its errors. */
import type { Messages } from 'authkernel/kernel'

export const messages: Messages = {
  en: {
    'captcha.working': 'Checking that you are not a robot. One moment …',
    'captcha.done': 'Checked: you are not a robot.',
    'captcha.failed': 'This browser could not do the check. Ask for a link by email instead.',
    'captcha.noScript': 'This check needs JavaScript. Without it, ask for a link by email.',
    'error.CaptchaRequired': 'Please confirm that you are not a robot, and try again. Without JavaScript, ask for a link by email.',
    'error.CaptchaUnavailable': 'We cannot check right now that you are not a robot. Please try again in a moment.',
  },
  de: {
    'captcha.working': 'Es wird geprüft, dass Sie kein Roboter sind. Einen Moment …',
    'captcha.done': 'Geprüft: Sie sind kein Roboter.',
    'captcha.failed': 'Dieser Browser kann die Prüfung nicht ausführen. Fordern Sie stattdessen einen Link per E-Mail an.',
    'captcha.noScript': 'Diese Prüfung braucht JavaScript. Ohne es können Sie einen Link per E-Mail anfordern.',
    'error.CaptchaRequired':
      'Bitte bestätigen Sie, dass Sie kein Roboter sind, und versuchen Sie es noch einmal. Ohne JavaScript können Sie einen Link per E-Mail anfordern.',
    'error.CaptchaUnavailable': 'Wir können gerade nicht prüfen, dass Sie kein Roboter sind. Bitte versuchen Sie es gleich noch einmal.',
  },
  fr: {
    'captcha.working': 'Vérification que vous n’êtes pas un robot. Un instant…',
    'captcha.done': 'Vérifié : vous n’êtes pas un robot.',
    'captcha.failed': 'Ce navigateur n’a pas pu faire la vérification. Demandez plutôt un lien par e-mail.',
    'captcha.noScript': 'Cette vérification a besoin de JavaScript. Sans lui, demandez un lien par e-mail.',
    'error.CaptchaRequired': 'Confirmez que vous n’êtes pas un robot, puis réessayez. Sans JavaScript, demandez un lien par e-mail.',
    'error.CaptchaUnavailable': 'Nous ne pouvons pas vérifier pour le moment que vous n’êtes pas un robot. Réessayez dans un instant.',
  },
  es: {
    'captcha.working': 'Comprobando que no es un robot. Un momento…',
    'captcha.done': 'Comprobado: no es un robot.',
    'captcha.failed': 'Este navegador no pudo hacer la comprobación. Pida un enlace por correo electrónico.',
    'captcha.noScript': 'Esta comprobación necesita JavaScript. Sin él, pida un enlace por correo electrónico.',
    'error.CaptchaRequired': 'Confirme que no es un robot e inténtelo de nuevo. Sin JavaScript, pida un enlace por correo electrónico.',
    'error.CaptchaUnavailable': 'Ahora no podemos comprobar que no es un robot. Inténtelo de nuevo en un momento.',
  },
  ja: {
    'captcha.working': 'ロボットでないことを確認しています。少々お待ちください…',
    'captcha.done': '確認が完了しました。',
    'captcha.failed': 'このブラウザーでは確認できませんでした。代わりにメールでリンクを受け取ってください。',
    'captcha.noScript': 'この確認には JavaScript が必要です。使えない場合はメールでリンクを受け取ってください。',
    'error.CaptchaRequired':
      'ロボットでないことを確認してから、もう一度お試しください。JavaScript が使えない場合はメールでリンクを受け取ってください。',
    'error.CaptchaUnavailable': '現在、ロボットでないことを確認できません。しばらくしてからもう一度お試しください。',
  },
}
