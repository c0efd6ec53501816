/** Texts of the pages on the way to an identity provider and back. */
import type { Messages } from 'authkernel/kernel'

export const messages: Messages = {
  en: {
    'saml.continue': 'Continue',
    'saml.cancel': 'Cancel',
    'saml.post.title': 'Going to your sign-in provider',
    'saml.post.lead': 'Your browser takes you there. If nothing happens, press the button.',
    'saml.return.title': 'Signing in',
    'saml.return.lead': 'Your sign-in provider has confirmed who you are. If nothing happens, press the button.',
    'saml.confirm.title': 'Sign in',
    'saml.confirm.lead': '{provider} wants to sign you in as {name}. Continue only if you started this.',
    'saml.confirm.submit': 'Sign in as {name}',
    'error.SamlProviderChanged':
      'The sign-in provider of your company has changed, and this app does not accept the new one. Ask your administrator to connect it.',
    'error.SamlStatusError': 'Your sign-in provider did not sign you in. Try again, or ask your administrator for access to this app.',
  },
  de: {
    'saml.continue': 'Weiter',
    'saml.cancel': 'Abbrechen',
    'saml.post.title': 'Weiter zum Anmeldedienst',
    'saml.post.lead': 'Ihr Browser bringt Sie dorthin. Falls nichts geschieht, drücken Sie den Knopf.',
    'saml.return.title': 'Anmeldung',
    'saml.return.lead': 'Ihr Anmeldedienst hat bestätigt, wer Sie sind. Falls nichts geschieht, drücken Sie den Knopf.',
    'saml.confirm.title': 'Anmelden',
    'saml.confirm.lead': '{provider} möchte Sie als {name} anmelden. Fahren Sie nur fort, wenn Sie das selbst begonnen haben.',
    'saml.confirm.submit': 'Als {name} anmelden',
    'error.SamlProviderChanged':
      'Ihr Unternehmen hat einen anderen Anmeldedienst, den diese App noch nicht kennt. Bitten Sie Ihre Administration, ihn zu verbinden.',
    'error.SamlStatusError':
      'Ihr Anmeldedienst hat Sie nicht angemeldet. Versuchen Sie es noch einmal, oder bitten Sie Ihre Administration um Zugang zu dieser App.',
  },
  es: {
    'saml.continue': 'Continuar',
    'saml.cancel': 'Cancelar',
    'saml.post.title': 'Ir a su proveedor de acceso',
    'saml.post.lead': 'Su navegador le lleva allí. Si no ocurre nada, pulse el botón.',
    'saml.return.title': 'Iniciando sesión',
    'saml.return.lead': 'Su proveedor de acceso ha confirmado quién es. Si no ocurre nada, pulse el botón.',
    'saml.confirm.title': 'Iniciar sesión',
    'saml.confirm.lead': '{provider} quiere iniciar su sesión como {name}. Continúe solo si lo ha empezado usted.',
    'saml.confirm.submit': 'Iniciar sesión como {name}',
    'error.SamlProviderChanged':
      'El proveedor de acceso de su empresa ha cambiado y esta aplicación no acepta el nuevo. Pida a su administrador que lo conecte.',
    'error.SamlStatusError':
      'Su proveedor de acceso no ha iniciado su sesión. Inténtelo de nuevo o pida acceso a esta aplicación a su administrador.',
  },
  fr: {
    'saml.continue': 'Continuer',
    'saml.cancel': 'Annuler',
    'saml.post.title': 'Vers votre fournisseur de connexion',
    'saml.post.lead': 'Votre navigateur vous y conduit. Si rien ne se passe, appuyez sur le bouton.',
    'saml.return.title': 'Connexion',
    'saml.return.lead': 'Votre fournisseur de connexion a confirmé votre identité. Si rien ne se passe, appuyez sur le bouton.',
    'saml.confirm.title': 'Se connecter',
    'saml.confirm.lead': '{provider} veut vous connecter en tant que {name}. Continuez seulement si vous en êtes à l’origine.',
    'saml.confirm.submit': 'Se connecter en tant que {name}',
    'error.SamlProviderChanged':
      'Le fournisseur de connexion de votre entreprise a changé, et cette application n’accepte pas le nouveau. Demandez à votre administrateur de le connecter.',
    'error.SamlStatusError':
      'Votre fournisseur de connexion ne vous a pas connecté. Réessayez, ou demandez à votre administrateur l’accès à cette application.',
  },
  ja: {
    'saml.continue': '続ける',
    'saml.cancel': 'キャンセル',
    'saml.post.title': 'サインイン先へ移動します',
    'saml.post.lead': 'ブラウザーが自動で移動します。何も起こらない場合は、ボタンを押してください。',
    'saml.return.title': 'サインインしています',
    'saml.return.lead': 'サインイン先で本人確認ができました。何も起こらない場合は、ボタンを押してください。',
    'saml.confirm.title': 'サインイン',
    'saml.confirm.lead': '{provider} が {name} としてのサインインを求めています。ご自身で始めた場合だけ続けてください。',
    'saml.confirm.submit': '{name} としてサインイン',
    'error.SamlProviderChanged':
      '会社のサインイン先が変わりましたが、このアプリはまだ新しいサインイン先に対応していません。管理者に接続を依頼してください。',
    'error.SamlStatusError': 'サインイン先でサインインできませんでした。もう一度試すか、このアプリの利用を管理者に依頼してください。',
  },
}
