# installed in CaromInstall
