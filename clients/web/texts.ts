// What the element says, by language: the languages of the messages, which a test compares. A text stands at the place of its name in
// NAMES, because the names would make a third of the file that every page loads.

export const NAMES = [
  'recipient',
  'send',
  'code',
  'verify',
  'again',
  'sent',
  'open',
  'change',
  'verified',
  'wrong',
  'ended',
  'invalid',
  'later',
  'failed',
  'noResend',
] as const

export type Texts = Record<(typeof NAMES)[number], string>

type Row = readonly string[]

// biome-ignore format: a language is a row
const norwegian: Row = ['Telefonnummer eller e-post', 'Send kode', 'Kode', 'Bekreft', 'Send på nytt', 'Koden er sendt:', 'Åpne WhatsApp', 'Endre', 'Bekreftet', 'Feil kode. Forsøk igjen:', 'Koden er ikke lenger gyldig.', 'Ugyldig telefonnummer eller e-post.', 'For mange forsøk. Prøv igjen senere.', 'Noe gikk galt. Prøv igjen.', 'Koden kan ikke sendes på nytt.']
// biome-ignore format: a language is a row
const traditionalChinese: Row = ['電話號碼或電子郵件', '傳送驗證碼', '驗證碼', '驗證', '重新傳送', '驗證碼已傳送：', '開啟 WhatsApp', '變更', '已驗證', '驗證碼錯誤。剩餘次數：', '驗證碼已失效。', '電話號碼或電子郵件無效。', '嘗試次數過多，請稍後再試。', '發生錯誤，請再試一次。', '無法再次傳送驗證碼。']

/** By BCP 47 tag, in its canonical form. */
// biome-ignore format: a language is a row
export const ROWS: Readonly<Record<string, Row>> = {
  en: ['Phone number or email', 'Send code', 'Code', 'Verify', 'Send again', 'Code sent:', 'Open WhatsApp', 'Change', 'Verified', 'Wrong code. Attempts left:', 'The code is no longer valid.', 'Not a valid phone number or email.', 'Too many attempts. Try again later.', 'Something went wrong. Try again.', 'The code cannot be sent again.'],
  ar: ['رقم الهاتف أو البريد الإلكتروني', 'إرسال الرمز', 'الرمز', 'تحقق', 'إعادة الإرسال', 'تم إرسال الرمز:', 'فتح واتساب', 'تغيير', 'تم التحقق', 'رمز خاطئ. المحاولات المتبقية:', 'لم يعد الرمز صالحًا.', 'رقم الهاتف أو البريد الإلكتروني غير صالح.', 'محاولات كثيرة جدًا. حاول لاحقًا.', 'حدث خطأ. حاول مرة أخرى.', 'لا يمكن إرسال الرمز مرة أخرى.'],
  bg: ['Телефонен номер или имейл', 'Изпращане на код', 'Код', 'Потвърждаване', 'Изпрати отново', 'Кодът е изпратен:', 'Отваряне на WhatsApp', 'Промяна', 'Потвърдено', 'Грешен код. Оставащи опити:', 'Кодът вече не е валиден.', 'Невалиден телефонен номер или имейл.', 'Твърде много опити. Опитайте по-късно.', 'Възникна грешка. Опитайте отново.', 'Кодът не може да бъде изпратен отново.'],
  bn: ['ফোন নম্বর বা ইমেল', 'কোড পাঠান', 'কোড', 'যাচাই করুন', 'আবার পাঠান', 'কোড পাঠানো হয়েছে:', 'WhatsApp খুলুন', 'পরিবর্তন করুন', 'যাচাই হয়েছে', 'ভুল কোড। বাকি চেষ্টা:', 'কোডটি আর বৈধ নয়।', 'ফোন নম্বর বা ইমেল সঠিক নয়।', 'অনেকবার চেষ্টা হয়েছে। পরে আবার চেষ্টা করুন।', 'কিছু ভুল হয়েছে। আবার চেষ্টা করুন।', 'কোডটি আবার পাঠানো যাবে না।'],
  ca: ['Telèfon o correu electrònic', 'Envia el codi', 'Codi', 'Verifica', 'Torna a enviar', 'Codi enviat:', 'Obre WhatsApp', 'Canvia', 'Verificat', 'Codi incorrecte. Intents restants:', 'El codi ja no és vàlid.', 'Telèfon o correu no vàlid.', 'Massa intents. Torna-ho a provar més tard.', 'Alguna cosa ha fallat. Torna-ho a provar.', 'El codi no es pot tornar a enviar.'],
  cs: ['Telefon nebo e-mail', 'Poslat kód', 'Kód', 'Ověřit', 'Poslat znovu', 'Kód odeslán:', 'Otevřít WhatsApp', 'Změnit', 'Ověřeno', 'Nesprávný kód. Zbývá pokusů:', 'Kód už neplatí.', 'Neplatný telefon nebo e-mail.', 'Příliš mnoho pokusů. Zkuste to později.', 'Něco se nepovedlo. Zkuste to znovu.', 'Kód už nelze poslat znovu.'],
  da: ['Telefonnummer eller e-mail', 'Send kode', 'Kode', 'Bekræft', 'Send igen', 'Koden er sendt:', 'Åbn WhatsApp', 'Skift', 'Bekræftet', 'Forkert kode. Forsøg tilbage:', 'Koden er ikke længere gyldig.', 'Ugyldigt telefonnummer eller e-mail.', 'For mange forsøg. Prøv igen senere.', 'Noget gik galt. Prøv igen.', 'Koden kan ikke sendes igen.'],
  de: ['Telefonnummer oder E-Mail', 'Code senden', 'Code', 'Bestätigen', 'Erneut senden', 'Code gesendet:', 'WhatsApp öffnen', 'Ändern', 'Bestätigt', 'Falscher Code. Verbleibende Versuche:', 'Der Code ist nicht mehr gültig.', 'Keine gültige Telefonnummer oder E-Mail.', 'Zu viele Versuche. Bitte später erneut versuchen.', 'Das hat nicht geklappt. Bitte erneut versuchen.', 'Der Code kann nicht erneut gesendet werden.'],
  el: ['Τηλέφωνο ή email', 'Αποστολή κωδικού', 'Κωδικός', 'Επαλήθευση', 'Αποστολή ξανά', 'Ο κωδικός στάλθηκε:', 'Άνοιγμα WhatsApp', 'Αλλαγή', 'Επαληθεύτηκε', 'Λάθος κωδικός. Προσπάθειες που απομένουν:', 'Ο κωδικός δεν ισχύει πλέον.', 'Μη έγκυρο τηλέφωνο ή email.', 'Πολλές προσπάθειες. Δοκιμάστε αργότερα.', 'Κάτι πήγε στραβά. Δοκιμάστε ξανά.', 'Ο κωδικός δεν μπορεί να σταλεί ξανά.'],
  es: ['Teléfono o correo electrónico', 'Enviar código', 'Código', 'Verificar', 'Enviar de nuevo', 'Código enviado:', 'Abrir WhatsApp', 'Cambiar', 'Verificado', 'Código incorrecto. Intentos restantes:', 'El código ya no es válido.', 'Teléfono o correo no válido.', 'Demasiados intentos. Inténtalo más tarde.', 'Algo salió mal. Inténtalo de nuevo.', 'El código no se puede enviar de nuevo.'],
  et: ['Telefoninumber või e-post', 'Saada kood', 'Kood', 'Kinnita', 'Saada uuesti', 'Kood on saadetud:', 'Ava WhatsApp', 'Muuda', 'Kinnitatud', 'Vale kood. Katseid jäänud:', 'Kood ei kehti enam.', 'Vigane telefoninumber või e-post.', 'Liiga palju katseid. Proovi hiljem uuesti.', 'Midagi läks valesti. Proovi uuesti.', 'Koodi ei saa uuesti saata.'],
  fa: ['شماره تلفن یا ایمیل', 'ارسال کد', 'کد', 'تأیید', 'ارسال دوباره', 'کد ارسال شد:', 'باز کردن واتساپ', 'تغییر', 'تأیید شد', 'کد نادرست است. تلاش‌های باقی‌مانده:', 'این کد دیگر معتبر نیست.', 'شماره تلفن یا ایمیل معتبر نیست.', 'تلاش‌ها بیش از حد است. بعداً دوباره امتحان کنید.', 'مشکلی پیش آمد. دوباره امتحان کنید.', 'نمی‌توان کد را دوباره ارسال کرد.'],
  fi: ['Puhelinnumero tai sähköposti', 'Lähetä koodi', 'Koodi', 'Vahvista', 'Lähetä uudelleen', 'Koodi lähetetty:', 'Avaa WhatsApp', 'Vaihda', 'Vahvistettu', 'Väärä koodi. Yrityksiä jäljellä:', 'Koodi ei ole enää voimassa.', 'Virheellinen puhelinnumero tai sähköposti.', 'Liian monta yritystä. Yritä myöhemmin uudelleen.', 'Jokin meni vikaan. Yritä uudelleen.', 'Koodia ei voi lähettää uudelleen.'],
  fil: ['Numero ng telepono o email', 'Ipadala ang code', 'Code', 'I-verify', 'Ipadala muli', 'Naipadala ang code:', 'Buksan ang WhatsApp', 'Palitan', 'Na-verify na', 'Maling code. Natitirang pagsubok:', 'Hindi na valid ang code.', 'Hindi valid ang numero o email.', 'Masyadong maraming pagsubok. Subukan muli mamaya.', 'Nagkaproblema. Subukan muli.', 'Hindi na maipapadala muli ang code.'],
  fr: ['Téléphone ou e-mail', 'Envoyer le code', 'Code', 'Vérifier', 'Renvoyer', 'Code envoyé :', 'Ouvrir WhatsApp', 'Modifier', 'Vérifié', 'Code incorrect. Essais restants :', 'Le code n’est plus valable.', 'Téléphone ou e-mail non valide.', 'Trop de tentatives. Réessayez plus tard.', 'Une erreur s’est produite. Réessayez.', 'Le code ne peut pas être renvoyé.'],
  he: ['מספר טלפון או אימייל', 'שליחת קוד', 'קוד', 'אימות', 'שליחה חוזרת', 'הקוד נשלח:', 'פתיחת WhatsApp', 'שינוי', 'אומת', 'קוד שגוי. ניסיונות שנותרו:', 'הקוד אינו בתוקף עוד.', 'מספר טלפון או אימייל לא תקין.', 'יותר מדי ניסיונות. נסו שוב מאוחר יותר.', 'משהו השתבש. נסו שוב.', 'לא ניתן לשלוח את הקוד שוב.'],
  hi: ['फ़ोन नंबर या ईमेल', 'कोड भेजें', 'कोड', 'सत्यापित करें', 'फिर से भेजें', 'कोड भेजा गया:', 'WhatsApp खोलें', 'बदलें', 'सत्यापित', 'गलत कोड। शेष प्रयास:', 'यह कोड अब मान्य नहीं है।', 'फ़ोन नंबर या ईमेल मान्य नहीं है।', 'बहुत अधिक प्रयास। बाद में फिर कोशिश करें।', 'कुछ गलत हुआ। फिर कोशिश करें।', 'कोड फिर से नहीं भेजा जा सकता।'],
  hr: ['Telefonski broj ili e-pošta', 'Pošalji kôd', 'Kôd', 'Potvrdi', 'Pošalji ponovno', 'Kôd je poslan:', 'Otvori WhatsApp', 'Promijeni', 'Potvrđeno', 'Pogrešan kôd. Preostali pokušaji:', 'Kôd više ne vrijedi.', 'Neispravan telefonski broj ili e-pošta.', 'Previše pokušaja. Pokušajte kasnije.', 'Nešto je pošlo po zlu. Pokušajte ponovno.', 'Kôd se ne može ponovno poslati.'],
  hu: ['Telefonszám vagy e-mail', 'Kód küldése', 'Kód', 'Ellenőrzés', 'Küldés újra', 'Kód elküldve:', 'WhatsApp megnyitása', 'Módosítás', 'Ellenőrizve', 'Hibás kód. Hátralévő próbálkozások:', 'A kód már nem érvényes.', 'Érvénytelen telefonszám vagy e-mail.', 'Túl sok próbálkozás. Próbálja később.', 'Hiba történt. Próbálja újra.', 'A kód nem küldhető újra.'],
  id: ['Nomor telepon atau email', 'Kirim kode', 'Kode', 'Verifikasi', 'Kirim ulang', 'Kode dikirim:', 'Buka WhatsApp', 'Ubah', 'Terverifikasi', 'Kode salah. Sisa percobaan:', 'Kode tidak berlaku lagi.', 'Nomor telepon atau email tidak valid.', 'Terlalu banyak percobaan. Coba lagi nanti.', 'Terjadi kesalahan. Coba lagi.', 'Kode tidak dapat dikirim ulang.'],
  it: ['Numero di telefono o email', 'Invia codice', 'Codice', 'Verifica', 'Invia di nuovo', 'Codice inviato:', 'Apri WhatsApp', 'Modifica', 'Verificato', 'Codice errato. Tentativi rimasti:', 'Il codice non è più valido.', 'Numero di telefono o email non valido.', 'Troppi tentativi. Riprova più tardi.', 'Qualcosa è andato storto. Riprova.', 'Il codice non può essere inviato di nuovo.'],
  ja: ['電話番号またはメールアドレス', 'コードを送信', 'コード', '確認', '再送信', 'コードを送信しました：', 'WhatsApp を開く', '変更', '確認済み', 'コードが違います。残り回数：', 'このコードは無効になりました。', '電話番号またはメールアドレスが正しくありません。', '試行回数が多すぎます。後でもう一度お試しください。', '問題が発生しました。もう一度お試しください。', 'コードを再送信できません。'],
  ko: ['전화번호 또는 이메일', '코드 보내기', '코드', '확인', '다시 보내기', '코드를 보냈습니다:', 'WhatsApp 열기', '변경', '확인됨', '잘못된 코드입니다. 남은 횟수:', '코드가 더 이상 유효하지 않습니다.', '전화번호 또는 이메일이 올바르지 않습니다.', '시도 횟수가 너무 많습니다. 나중에 다시 시도하세요.', '문제가 발생했습니다. 다시 시도하세요.', '코드를 다시 보낼 수 없습니다.'],
  lt: ['Telefono numeris arba el. paštas', 'Siųsti kodą', 'Kodas', 'Patvirtinti', 'Siųsti dar kartą', 'Kodas išsiųstas:', 'Atidaryti „WhatsApp“', 'Keisti', 'Patvirtinta', 'Neteisingas kodas. Liko bandymų:', 'Kodas nebegalioja.', 'Netinkamas telefono numeris arba el. paštas.', 'Per daug bandymų. Bandykite vėliau.', 'Kažkas nepavyko. Bandykite dar kartą.', 'Kodo negalima išsiųsti dar kartą.'],
  lv: ['Tālruņa numurs vai e-pasts', 'Sūtīt kodu', 'Kods', 'Apstiprināt', 'Sūtīt vēlreiz', 'Kods nosūtīts:', 'Atvērt WhatsApp', 'Mainīt', 'Apstiprināts', 'Nepareizs kods. Atlikušie mēģinājumi:', 'Kods vairs nav derīgs.', 'Nederīgs tālruņa numurs vai e-pasts.', 'Pārāk daudz mēģinājumu. Mēģiniet vēlāk.', 'Radās kļūda. Mēģiniet vēlreiz.', 'Kodu nevar nosūtīt vēlreiz.'],
  ms: ['Nombor telefon atau e-mel', 'Hantar kod', 'Kod', 'Sahkan', 'Hantar semula', 'Kod dihantar:', 'Buka WhatsApp', 'Tukar', 'Disahkan', 'Kod salah. Baki cubaan:', 'Kod tidak lagi sah.', 'Nombor telefon atau e-mel tidak sah.', 'Terlalu banyak cubaan. Cuba lagi nanti.', 'Sesuatu tidak kena. Cuba lagi.', 'Kod tidak dapat dihantar semula.'],
  nb: norwegian,
  nl: ['Telefoonnummer of e-mail', 'Code versturen', 'Code', 'Bevestigen', 'Opnieuw versturen', 'Code verstuurd:', 'WhatsApp openen', 'Wijzigen', 'Bevestigd', 'Onjuiste code. Resterende pogingen:', 'De code is niet meer geldig.', 'Geen geldig telefoonnummer of e-mailadres.', 'Te veel pogingen. Probeer het later opnieuw.', 'Er ging iets mis. Probeer het opnieuw.', 'De code kan niet opnieuw worden verstuurd.'],
  no: norwegian,
  pl: ['Numer telefonu lub e-mail', 'Wyślij kod', 'Kod', 'Potwierdź', 'Wyślij ponownie', 'Kod wysłany:', 'Otwórz WhatsApp', 'Zmień', 'Potwierdzono', 'Błędny kod. Pozostałe próby:', 'Kod nie jest już ważny.', 'Nieprawidłowy numer telefonu lub e-mail.', 'Zbyt wiele prób. Spróbuj później.', 'Coś poszło nie tak. Spróbuj ponownie.', 'Nie można ponownie wysłać kodu.'],
  pt: ['Telefone ou e-mail', 'Enviar código', 'Código', 'Verificar', 'Enviar novamente', 'Código enviado:', 'Abrir o WhatsApp', 'Alterar', 'Verificado', 'Código incorreto. Tentativas restantes:', 'O código já não é válido.', 'Telefone ou e-mail inválido.', 'Muitas tentativas. Tente mais tarde.', 'Algo deu errado. Tente novamente.', 'O código não pode ser enviado novamente.'],
  ro: ['Număr de telefon sau e-mail', 'Trimite codul', 'Cod', 'Verifică', 'Trimite din nou', 'Cod trimis:', 'Deschide WhatsApp', 'Schimbă', 'Verificat', 'Cod greșit. Încercări rămase:', 'Codul nu mai este valabil.', 'Număr de telefon sau e-mail nevalid.', 'Prea multe încercări. Încercați mai târziu.', 'Ceva nu a mers. Încercați din nou.', 'Codul nu poate fi trimis din nou.'],
  ru: ['Номер телефона или эл. почта', 'Отправить код', 'Код', 'Подтвердить', 'Отправить снова', 'Код отправлен:', 'Открыть WhatsApp', 'Изменить', 'Подтверждено', 'Неверный код. Осталось попыток:', 'Код больше не действует.', 'Неверный номер телефона или адрес почты.', 'Слишком много попыток. Попробуйте позже.', 'Что-то пошло не так. Попробуйте снова.', 'Код нельзя отправить снова.'],
  sk: ['Telefón alebo e-mail', 'Poslať kód', 'Kód', 'Overiť', 'Poslať znova', 'Kód odoslaný:', 'Otvoriť WhatsApp', 'Zmeniť', 'Overené', 'Nesprávny kód. Zostáva pokusov:', 'Kód už neplatí.', 'Neplatný telefón alebo e-mail.', 'Priveľa pokusov. Skúste to neskôr.', 'Niečo sa nepodarilo. Skúste to znova.', 'Kód už nie je možné poslať znova.'],
  sl: ['Telefonska številka ali e-pošta', 'Pošlji kodo', 'Koda', 'Potrdi', 'Pošlji znova', 'Koda poslana:', 'Odpri WhatsApp', 'Spremeni', 'Potrjeno', 'Napačna koda. Preostali poskusi:', 'Koda ni več veljavna.', 'Neveljavna telefonska številka ali e-pošta.', 'Preveč poskusov. Poskusite pozneje.', 'Nekaj je šlo narobe. Poskusite znova.', 'Kode ni mogoče poslati znova.'],
  sr: ['Број телефона или имејл', 'Пошаљи код', 'Код', 'Потврди', 'Пошаљи поново', 'Код је послат:', 'Отвори WhatsApp', 'Промени', 'Потврђено', 'Погрешан код. Преостали покушаји:', 'Код више не важи.', 'Неисправан број телефона или имејл.', 'Превише покушаја. Покушајте касније.', 'Нешто није у реду. Покушајте поново.', 'Код није могуће поново послати.'],
  sv: ['Telefonnummer eller e-post', 'Skicka kod', 'Kod', 'Bekräfta', 'Skicka igen', 'Koden är skickad:', 'Öppna WhatsApp', 'Ändra', 'Bekräftad', 'Fel kod. Försök kvar:', 'Koden är inte längre giltig.', 'Ogiltigt telefonnummer eller e-post.', 'För många försök. Försök igen senare.', 'Något gick fel. Försök igen.', 'Koden kan inte skickas igen.'],
  sw: ['Nambari ya simu au barua pepe', 'Tuma msimbo', 'Msimbo', 'Thibitisha', 'Tuma tena', 'Msimbo umetumwa:', 'Fungua WhatsApp', 'Badilisha', 'Imethibitishwa', 'Msimbo si sahihi. Majaribio yaliyobaki:', 'Msimbo huu si halali tena.', 'Nambari ya simu au barua pepe si halali.', 'Majaribio ni mengi mno. Jaribu tena baadaye.', 'Hitilafu imetokea. Jaribu tena.', 'Msimbo hauwezi kutumwa tena.'],
  th: ['หมายเลขโทรศัพท์หรืออีเมล', 'ส่งรหัส', 'รหัส', 'ยืนยัน', 'ส่งอีกครั้ง', 'ส่งรหัสแล้ว:', 'เปิด WhatsApp', 'เปลี่ยน', 'ยืนยันแล้ว', 'รหัสไม่ถูกต้อง จำนวนครั้งที่เหลือ:', 'รหัสใช้ไม่ได้แล้ว', 'หมายเลขโทรศัพท์หรืออีเมลไม่ถูกต้อง', 'ลองหลายครั้งเกินไป โปรดลองใหม่ภายหลัง', 'เกิดข้อผิดพลาด โปรดลองอีกครั้ง', 'ไม่สามารถส่งรหัสอีกครั้งได้'],
  tr: ['Telefon numarası veya e-posta', 'Kod gönder', 'Kod', 'Doğrula', 'Tekrar gönder', 'Kod gönderildi:', 'WhatsApp’ı aç', 'Değiştir', 'Doğrulandı', 'Yanlış kod. Kalan deneme:', 'Kod artık geçerli değil.', 'Geçersiz telefon numarası veya e-posta.', 'Çok fazla deneme. Daha sonra tekrar deneyin.', 'Bir sorun oluştu. Tekrar deneyin.', 'Kod tekrar gönderilemez.'],
  uk: ['Номер телефону або ел. пошта', 'Надіслати код', 'Код', 'Підтвердити', 'Надіслати ще раз', 'Код надіслано:', 'Відкрити WhatsApp', 'Змінити', 'Підтверджено', 'Неправильний код. Залишилося спроб:', 'Код більше не дійсний.', 'Неправильний номер телефону або адреса пошти.', 'Забагато спроб. Спробуйте пізніше.', 'Щось пішло не так. Спробуйте ще раз.', 'Код не можна надіслати ще раз.'],
  ur: ['فون نمبر یا ای میل', 'کوڈ بھیجیں', 'کوڈ', 'تصدیق کریں', 'دوبارہ بھیجیں', 'کوڈ بھیج دیا گیا:', 'واٹس ایپ کھولیں', 'تبدیل کریں', 'تصدیق ہو گئی', 'غلط کوڈ۔ باقی کوششیں:', 'یہ کوڈ اب درست نہیں ہے۔', 'فون نمبر یا ای میل درست نہیں ہے۔', 'بہت زیادہ کوششیں۔ بعد میں دوبارہ کوشش کریں۔', 'کچھ غلط ہو گیا۔ دوبارہ کوشش کریں۔', 'کوڈ دوبارہ نہیں بھیجا جا سکتا۔'],
  vi: ['Số điện thoại hoặc email', 'Gửi mã', 'Mã', 'Xác minh', 'Gửi lại', 'Đã gửi mã:', 'Mở WhatsApp', 'Thay đổi', 'Đã xác minh', 'Mã không đúng. Số lần còn lại:', 'Mã không còn hiệu lực.', 'Số điện thoại hoặc email không hợp lệ.', 'Quá nhiều lần thử. Hãy thử lại sau.', 'Đã xảy ra lỗi. Hãy thử lại.', 'Không thể gửi lại mã.'],
  zh: ['手机号码或电子邮箱', '发送验证码', '验证码', '验证', '重新发送', '验证码已发送：', '打开 WhatsApp', '更改', '已验证', '验证码错误。剩余次数：', '验证码已失效。', '手机号码或电子邮箱无效。', '尝试次数过多，请稍后再试。', '出错了，请重试。', '无法再次发送验证码。'],
  'zh-HK': traditionalChinese,
  'zh-Hant': traditionalChinese,
  'zh-TW': traditionalChinese,
}

const FALLBACK = 'en'

/** The texts of the first language that is there: `pt-BR` → pt-BR, pt. */
export function textsFor(tags: readonly string[]): { locale: string; texts: Texts } {
  const locale = tags.flatMap(fallbacks).find(tag => Object.hasOwn(ROWS, tag)) ?? FALLBACK
  const row = ROWS[locale] ?? []
  return { locale, texts: Object.fromEntries(NAMES.map((name, i) => [name, row[i]])) as Texts }
}

function fallbacks(tag: string): string[] {
  try {
    const subtags = (Intl.getCanonicalLocales(tag)[0] ?? '').split('-')
    return subtags.map((_, dropped) => subtags.slice(0, subtags.length - dropped).join('-'))
  } catch {
    return []
  }
}
