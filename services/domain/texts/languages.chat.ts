// The sentences of a WhatsApp chat, by language: the text that a wa.me link fills in for the user, and our replies.
// message-text.ts fills in `{app}` and `{reference}`. languages.ts says how to add a language. The user's text says
// what sending it does, so that a user does not approve a stranger's sign-in by mistake. The reference has a line of
// its own, so that a right-to-left script does not reorder it.

export interface ChatSentences {
  /** The user's text that approves the verification. */
  confirms: string
  /** The user's text that requests the code. */
  requests: string
  reference: string
  /** Our reply to `confirms`. */
  approved: string
  /** Our reply to a user whose number WhatsApp hides. WhatsApp adds the button. */
  asksContact: string
}

const traditionalChinese: ChatSentences = {
  confirms: '我確認我正在登入 {app}。',
  requests: '請傳送我的 {app} 驗證碼給我。',
  reference: '參考編號：{reference}',
  approved: '已確認。您可以返回 {app}。',
  asksContact: '{app}：WhatsApp 沒有向我們顯示您的電話號碼。請點按下方按鈕分享您的號碼。',
}

const norwegian: ChatSentences = {
  confirms: 'Jeg bekrefter at jeg logger inn på {app}.',
  requests: 'Vennligst send meg koden min for {app}.',
  reference: 'Referanse: {reference}',
  approved: 'Bekreftet. Du kan gå tilbake til {app}.',
  asksContact: '{app}: WhatsApp viser oss ikke nummeret ditt. Del det med knappen nedenfor.',
}

/** By BCP 47 tag: the same tags as in languages.ts, in the same order. */
export const CHAT_SENTENCES: Readonly<Record<string, ChatSentences>> = {
  en: {
    confirms: 'I confirm that I am signing in to {app}.',
    requests: 'Please send me my code for {app}.',
    reference: 'Reference: {reference}',
    approved: 'Confirmed. You can return to {app}.',
    asksContact: '{app}: WhatsApp does not show us your number. Please share it with the button below.',
  },
  ar: {
    confirms: 'أؤكد أنني أسجّل الدخول إلى {app}.',
    requests: 'يرجى إرسال رمزي الخاص بـ {app}.',
    reference: 'المرجع: {reference}',
    approved: 'تم التأكيد. يمكنك العودة إلى {app}.',
    asksContact: '{app}: لا يعرض لنا واتساب رقمك. يرجى مشاركته باستخدام الزر أدناه.',
  },
  bg: {
    confirms: '{app}: потвърждавам, че влизам в профила си.',
    requests: '{app}: моля, изпратете ми моя код.',
    reference: 'Референция: {reference}',
    approved: '{app}: потвърдено. Можете да се върнете в приложението.',
    asksContact: '{app}: WhatsApp не ни показва вашия номер. Моля, споделете го с бутона по-долу.',
  },
  bn: {
    confirms: 'আমি নিশ্চিত করছি যে আমি {app}-এ সাইন ইন করছি।',
    requests: 'অনুগ্রহ করে আমাকে আমার {app} কোড পাঠান।',
    reference: 'রেফারেন্স: {reference}',
    approved: 'নিশ্চিত হয়েছে। আপনি {app}-এ ফিরে যেতে পারেন।',
    asksContact: '{app}: WhatsApp আমাদের আপনার নম্বর দেখায় না। অনুগ্রহ করে নিচের বোতাম দিয়ে এটি শেয়ার করুন।',
  },
  ca: {
    confirms: 'Confirmo que estic iniciant la sessió a {app}.',
    requests: 'Envia’m el meu codi de {app}, si us plau.',
    reference: 'Referència: {reference}',
    approved: 'Confirmat. Pots tornar a {app}.',
    asksContact: '{app}: WhatsApp no ens mostra el teu número. Comparteix-lo amb el botó de sota, si us plau.',
  },
  cs: {
    confirms: '{app}: potvrzuji, že se přihlašuji.',
    requests: '{app}: pošlete mi prosím můj kód.',
    reference: 'Reference: {reference}',
    approved: '{app}: potvrzeno. Můžete se vrátit do aplikace.',
    asksContact: '{app}: WhatsApp nám nezobrazuje vaše číslo. Sdílejte ho prosím tlačítkem níže.',
  },
  da: {
    confirms: 'Jeg bekræfter, at jeg logger ind på {app}.',
    requests: 'Send mig venligst min kode til {app}.',
    reference: 'Reference: {reference}',
    approved: 'Bekræftet. Du kan vende tilbage til {app}.',
    asksContact: '{app}: WhatsApp viser os ikke dit nummer. Del det med knappen nedenfor.',
  },
  de: {
    confirms: 'Ich bestätige, dass ich mich bei {app} anmelde.',
    requests: 'Bitte senden Sie mir meinen Code für {app}.',
    reference: 'Referenz: {reference}',
    approved: 'Bestätigt. Sie können zu {app} zurückkehren.',
    asksContact: '{app}: WhatsApp zeigt uns Ihre Nummer nicht. Bitte teilen Sie sie über die Schaltfläche unten.',
  },
  el: {
    confirms: '{app}: επιβεβαιώνω ότι συνδέομαι.',
    requests: '{app}: στείλτε μου τον κωδικό μου, παρακαλώ.',
    reference: 'Αναφορά: {reference}',
    approved: '{app}: επιβεβαιώθηκε. Μπορείτε να επιστρέψετε στην εφαρμογή.',
    asksContact: '{app}: Το WhatsApp δεν μας δείχνει τον αριθμό σας. Κοινοποιήστε τον με το παρακάτω κουμπί.',
  },
  es: {
    confirms: 'Confirmo que estoy iniciando sesión en {app}.',
    requests: 'Envíame mi código de {app}, por favor.',
    reference: 'Referencia: {reference}',
    approved: 'Confirmado. Puedes volver a {app}.',
    asksContact: '{app}: WhatsApp no nos muestra tu número. Compártelo con el botón de abajo, por favor.',
  },
  et: {
    confirms: '{app}: kinnitan, et login sisse.',
    requests: '{app}: palun saatke mulle minu kood.',
    reference: 'Viide: {reference}',
    approved: '{app}: kinnitatud. Võid rakendusse tagasi minna.',
    asksContact: '{app}: WhatsApp ei näita meile sinu numbrit. Palun jaga seda alloleva nupuga.',
  },
  fa: {
    confirms: 'تأیید می‌کنم که در حال ورود به {app} هستم.',
    requests: 'لطفاً کد {app} من را برایم بفرستید.',
    reference: 'مرجع: {reference}',
    approved: 'تأیید شد. می‌توانید به {app} بازگردید.',
    asksContact: '{app}: واتساپ شمارهٔ شما را به ما نشان نمی‌دهد. لطفاً آن را با دکمهٔ زیر به اشتراک بگذارید.',
  },
  fi: {
    confirms: '{app}: vahvistan, että olen kirjautumassa sisään.',
    requests: '{app}: lähettäkää minulle koodini, kiitos.',
    reference: 'Viite: {reference}',
    approved: '{app}: vahvistettu. Voit palata sovellukseen.',
    asksContact: '{app}: WhatsApp ei näytä meille numeroasi. Jaa se alla olevalla painikkeella.',
  },
  fil: {
    confirms: 'Kinukumpirma ko na nagsa-sign in ako sa {app}.',
    requests: 'Pakipadala sa akin ang code ko para sa {app}.',
    reference: 'Reference: {reference}',
    approved: 'Nakumpirma na. Maaari ka nang bumalik sa {app}.',
    asksContact:
      '{app}: Hindi ipinapakita sa amin ng WhatsApp ang iyong numero. Pakibahagi ito gamit ang button sa ibaba.',
  },
  fr: {
    confirms: 'Je confirme que je me connecte à {app}.',
    requests: 'Veuillez m’envoyer mon code {app}.',
    reference: 'Référence : {reference}',
    approved: 'Confirmé. Vous pouvez revenir à {app}.',
    asksContact: '{app} : WhatsApp ne nous montre pas votre numéro. Veuillez le partager avec le bouton ci-dessous.',
  },
  he: {
    confirms: 'אני מאשר/ת כניסה לחשבון שלי ב-{app}.',
    requests: 'נא לשלוח לי את הקוד שלי עבור {app}.',
    reference: 'אסמכתא: {reference}',
    approved: 'אושר. אפשר לחזור אל {app}.',
    asksContact: '{app}: וואטסאפ לא מציג לנו את המספר שלך. אפשר לשתף אותו באמצעות הכפתור שלמטה.',
  },
  hi: {
    confirms: 'मैं पुष्टि करता/करती हूँ कि मैं {app} में साइन इन कर रहा/रही हूँ।',
    requests: 'कृपया मुझे मेरा {app} कोड भेजें।',
    reference: 'संदर्भ: {reference}',
    approved: 'पुष्टि हो गई। आप {app} पर वापस जा सकते हैं।',
    asksContact: '{app}: WhatsApp हमें आपका नंबर नहीं दिखाता। कृपया इसे नीचे दिए गए बटन से साझा करें।',
  },
  hr: {
    confirms: '{app}: potvrđujem da se prijavljujem.',
    requests: '{app}: molim pošaljite mi moj kod.',
    reference: 'Referenca: {reference}',
    approved: '{app}: potvrđeno. Možete se vratiti u aplikaciju.',
    asksContact: '{app}: WhatsApp nam ne prikazuje vaš broj. Podijelite ga gumbom u nastavku.',
  },
  hu: {
    confirms: '{app}: megerősítem, hogy éppen bejelentkezem.',
    requests: '{app}: kérem, küldjék el a kódomat.',
    reference: 'Hivatkozás: {reference}',
    approved: '{app}: megerősítve. Visszatérhet az alkalmazásba.',
    asksContact: '{app}: a WhatsApp nem mutatja meg nekünk az Ön számát. Kérjük, ossza meg az alábbi gombbal.',
  },
  id: {
    confirms: 'Saya mengonfirmasi bahwa saya sedang masuk ke {app}.',
    requests: 'Mohon kirimkan kode {app} saya.',
    reference: 'Referensi: {reference}',
    approved: 'Dikonfirmasi. Anda dapat kembali ke {app}.',
    asksContact: '{app}: WhatsApp tidak menampilkan nomor Anda kepada kami. Silakan bagikan dengan tombol di bawah.',
  },
  it: {
    confirms: 'Confermo che sto accedendo a {app}.',
    requests: 'Per favore, inviatemi il mio codice {app}.',
    reference: 'Riferimento: {reference}',
    approved: 'Confermato. Puoi tornare a {app}.',
    asksContact: '{app}: WhatsApp non ci mostra il tuo numero. Condividilo con il pulsante qui sotto.',
  },
  ja: {
    confirms: '{app}にログインしようとしているのは私本人です。',
    requests: '{app}の認証コードを送ってください。',
    reference: '参照番号：{reference}',
    approved: '確認しました。{app}に戻ってください。',
    asksContact: '{app}：WhatsAppではお客様の電話番号が表示されません。下のボタンで番号を共有してください。',
  },
  ko: {
    confirms: '[{app}] 본인이 로그인하고 있음을 확인합니다.',
    requests: '[{app}] 인증번호를 보내 주세요.',
    reference: '참조 번호: {reference}',
    approved: '[{app}] 확인되었습니다. 앱으로 돌아가셔도 됩니다.',
    asksContact: '[{app}] WhatsApp에서 전화번호가 표시되지 않습니다. 아래 버튼으로 번호를 공유해 주세요.',
  },
  lt: {
    confirms: '{app}: patvirtinu, kad prisijungiu.',
    requests: '{app}: prašau atsiųsti man mano kodą.',
    reference: 'Nuoroda: {reference}',
    approved: '{app}: patvirtinta. Galite grįžti į programėlę.',
    asksContact: '{app}: „WhatsApp“ mums nerodo jūsų numerio. Pasidalykite juo paspausdami toliau esantį mygtuką.',
  },
  lv: {
    confirms: '{app}: apstiprinu, ka es pierakstos.',
    requests: '{app}: lūdzu, nosūtiet man manu kodu.',
    reference: 'Atsauce: {reference}',
    approved: '{app}: apstiprināts. Varat atgriezties lietotnē.',
    asksContact: '{app}: WhatsApp mums nerāda jūsu numuru. Lūdzu, kopīgojiet to ar tālāk esošo pogu.',
  },
  ms: {
    confirms: 'Saya mengesahkan bahawa saya sedang log masuk ke {app}.',
    requests: 'Sila hantar kod {app} saya.',
    reference: 'Rujukan: {reference}',
    approved: 'Disahkan. Anda boleh kembali ke {app}.',
    asksContact: '{app}: WhatsApp tidak menunjukkan nombor anda kepada kami. Sila kongsikannya dengan butang di bawah.',
  },
  nb: norwegian,
  nl: {
    confirms: 'Ik bevestig dat ik inlog bij {app}.',
    requests: 'Stuur mij alstublieft mijn code voor {app}.',
    reference: 'Referentie: {reference}',
    approved: 'Bevestigd. Je kunt teruggaan naar {app}.',
    asksContact: '{app}: WhatsApp toont ons je nummer niet. Deel het met de knop hieronder.',
  },
  no: norwegian,
  pl: {
    confirms: '{app}: potwierdzam, że się loguję.',
    requests: '{app}: proszę o przesłanie mojego kodu.',
    reference: 'Numer referencyjny: {reference}',
    approved: '{app}: potwierdzono. Możesz wrócić do aplikacji.',
    asksContact: '{app}: WhatsApp nie pokazuje nam Twojego numeru. Udostępnij go przyciskiem poniżej.',
  },
  pt: {
    confirms: '{app}: confirmo que sou eu a iniciar sessão.',
    requests: '{app}: envie-me o meu código, por favor.',
    reference: 'Referência: {reference}',
    approved: '{app}: confirmado. Pode voltar à aplicação.',
    asksContact: '{app}: o WhatsApp não nos mostra o seu número. Partilhe-o com o botão abaixo.',
  },
  ro: {
    confirms: 'Confirm că mă conectez la {app}.',
    requests: 'Vă rog să îmi trimiteți codul meu {app}.',
    reference: 'Referință: {reference}',
    approved: 'Confirmat. Poți reveni la {app}.',
    asksContact: '{app}: WhatsApp nu ne arată numărul tău. Te rugăm să îl distribui cu butonul de mai jos.',
  },
  ru: {
    confirms: '{app}: подтверждаю, что это я выполняю вход.',
    requests: '{app}: пришлите мне, пожалуйста, мой код.',
    reference: 'Номер обращения: {reference}',
    approved: '{app}: подтверждено. Можно вернуться в приложение.',
    asksContact: '{app}: WhatsApp не показывает нам ваш номер. Поделитесь им с помощью кнопки ниже.',
  },
  sk: {
    confirms: '{app}: potvrdzujem, že sa prihlasujem.',
    requests: '{app}: pošlite mi, prosím, môj kód.',
    reference: 'Referencia: {reference}',
    approved: '{app}: potvrdené. Môžete sa vrátiť do aplikácie.',
    asksContact: '{app}: WhatsApp nám nezobrazuje vaše číslo. Zdieľajte ho prosím tlačidlom nižšie.',
  },
  sl: {
    confirms: '{app}: potrjujem, da se prijavljam.',
    requests: '{app}: prosim, pošljite mi mojo kodo.',
    reference: 'Sklic: {reference}',
    approved: '{app}: potrjeno. Lahko se vrnete v aplikacijo.',
    asksContact: '{app}: WhatsApp nam ne pokaže vaše številke. Delite jo s spodnjim gumbom.',
  },
  sr: {
    confirms: '{app}: потврђујем да се пријављујем.',
    requests: '{app}: молим, пошаљите ми мој код.',
    reference: 'Референца: {reference}',
    approved: '{app}: потврђено. Можете се вратити у апликацију.',
    asksContact: '{app}: WhatsApp нам не приказује ваш број. Поделите га дугметом испод.',
  },
  sv: {
    confirms: 'Jag bekräftar att jag loggar in på {app}.',
    requests: 'Skicka min kod för {app}, tack.',
    reference: 'Referens: {reference}',
    approved: 'Bekräftat. Du kan gå tillbaka till {app}.',
    asksContact: '{app}: WhatsApp visar inte ditt nummer för oss. Dela det med knappen nedan.',
  },
  sw: {
    confirms: 'Ninathibitisha kwamba ninaingia kwenye {app}.',
    requests: 'Tafadhali nitumie nambari yangu ya {app}.',
    reference: 'Rejea: {reference}',
    approved: 'Imethibitishwa. Unaweza kurudi kwenye {app}.',
    asksContact: '{app}: WhatsApp haituonyeshi nambari yako. Tafadhali ishiriki kwa kitufe kilicho hapa chini.',
  },
  th: {
    confirms: 'ฉันยืนยันว่าฉันกำลังเข้าสู่ระบบ {app}',
    requests: 'โปรดส่งรหัส {app} ของฉันมาให้ด้วย',
    reference: 'หมายเลขอ้างอิง: {reference}',
    approved: 'ยืนยันแล้ว คุณกลับไปที่ {app} ได้เลย',
    asksContact: '{app}: WhatsApp ไม่แสดงหมายเลขของคุณให้เราเห็น โปรดแชร์ด้วยปุ่มด้านล่าง',
  },
  tr: {
    confirms: '{app}: oturum açanın ben olduğumu onaylıyorum.',
    requests: '{app}: lütfen bana kodumu gönderin.',
    reference: 'Referans: {reference}',
    approved: '{app}: onaylandı. Uygulamaya dönebilirsiniz.',
    asksContact: '{app}: WhatsApp numaranızı bize göstermiyor. Lütfen aşağıdaki düğmeyle paylaşın.',
  },
  uk: {
    confirms: '{app}: підтверджую, що це я виконую вхід.',
    requests: '{app}: надішліть мені, будь ласка, мій код.',
    reference: 'Номер звернення: {reference}',
    approved: '{app}: підтверджено. Можна повернутися до застосунку.',
    asksContact: '{app}: WhatsApp не показує нам ваш номер. Поділіться ним за допомогою кнопки нижче.',
  },
  ur: {
    confirms: 'میں تصدیق کرتا/کرتی ہوں کہ میں {app} میں سائن ان کر رہا/رہی ہوں۔',
    requests: 'براہ کرم مجھے میرا {app} کوڈ بھیجیں۔',
    reference: 'حوالہ: {reference}',
    approved: 'تصدیق ہو گئی۔ آپ {app} پر واپس جا سکتے ہیں۔',
    asksContact: '{app}: واٹس ایپ ہمیں آپ کا نمبر نہیں دکھاتا۔ براہ کرم اسے نیچے دیے گئے بٹن سے شیئر کریں۔',
  },
  vi: {
    confirms: 'Tôi xác nhận rằng tôi đang đăng nhập vào {app}.',
    requests: 'Vui lòng gửi cho tôi mã {app} của tôi.',
    reference: 'Mã tham chiếu: {reference}',
    approved: 'Đã xác nhận. Bạn có thể quay lại {app}.',
    asksContact: '{app}: WhatsApp không cho chúng tôi thấy số của bạn. Vui lòng chia sẻ bằng nút bên dưới.',
  },
  zh: {
    confirms: '我确认我正在登录 {app}。',
    requests: '请把我的 {app} 验证码发给我。',
    reference: '参考编号：{reference}',
    approved: '已确认。您可以返回 {app}。',
    asksContact: '{app}：WhatsApp 没有向我们显示您的电话号码。请点击下方按钮分享您的号码。',
  },
  'zh-HK': traditionalChinese,
  'zh-Hant': traditionalChinese,
  'zh-TW': traditionalChinese,
}
