"""Operations worded anew, so that mapping them over members gives fast stacked ones with the same result."""
