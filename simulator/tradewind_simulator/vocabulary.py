"""The Chinese and English words from which products and shops are named."""

# ruff: noqa: E501 - Chinese letters count twice; a list of words is read, not diffed

from msgspec import Struct

Pair = tuple[str, str]


class Kind(Struct, frozen=True):
    """What a product is, what it costs in yuan, and what it weighs in grams."""

    name: str
    name_en: str
    low: int
    high: int
    grams: int


class Category(Struct, frozen=True):
    """A category of the marketplace with its words."""

    id: int
    name: str
    name_en: str
    unit: Pair
    trade: str
    audiences: tuple[Pair, ...]
    styles: tuple[Pair, ...]
    materials: tuple[Pair, ...]
    features: tuple[Pair, ...]
    sizes: tuple[str, ...]
    kinds: tuple[Kind, ...]


def _pairs(text: str) -> tuple[Pair, ...]:
    """`棉 cotton, 麻 linen`: the Chinese word up to the first blank, the rest is English."""
    pairs = []
    for part in text.split(","):
        name, _, name_en = part.strip().partition(" ")
        pairs.append((name, name_en))
    return tuple(pairs)


def _kinds(text: str) -> tuple[Kind, ...]:
    """`连衣裙 dress 35-160 350`: name, English name, yuan from-to, grams."""
    kinds = []
    for part in text.split(","):
        name, *words, price, grams = part.split()
        low, _, high = price.partition("-")
        kinds.append(Kind(name, " ".join(words), int(low), int(high), int(grams)))
    return tuple(kinds)


COLOURS = _pairs(
    "黑色 black, 白色 white, 红色 red, 粉色 pink, 灰色 grey, 深蓝色 navy blue, 天蓝色 sky blue,"
    "墨绿色 dark green, 卡其色 khaki, 米色 beige, 黄色 yellow, 紫色 purple, 咖啡色 coffee,"
    "橙色 orange, 酒红色 burgundy, 透明 transparent"
)

SEASONS = _pairs(
    "2026春季新款 new spring 2026, 夏季新款 new summer, 秋冬新款 new autumn and winter,"
    "2026新款 new 2026, 爆款 best-selling, 跨境热销 cross-border hot sale, 厂家直供 factory supply,"
    "现货 in stock, 网红同款 trending"
)

ENDINGS = _pairs(
    "批发 wholesale, 厂家直销 factory direct, 一件代发 dropshipping, 支持定制 custom logo,"
    "外贸货源 export quality, 源头工厂 source factory"
)

CITIES = (
    ("浙江省", "义乌市"), ("广东省", "广州市"), ("广东省", "深圳市"), ("浙江省", "杭州市"),
    ("广东省", "东莞市"), ("福建省", "泉州市"), ("广东省", "汕头市"), ("浙江省", "温州市"),
    ("浙江省", "宁波市"), ("广东省", "中山市"), ("广东省", "佛山市"), ("江苏省", "苏州市"),
    ("河北省", "保定市"), ("山东省", "青岛市"), ("福建省", "厦门市"), ("上海市", "上海市"),
)  # fmt: skip

SHOPS = (
    "鑫达", "美佳", "悦尚", "恒盛", "瑞丰", "优品", "锦程", "华彩", "乐购", "盛世", "佳禾", "创亿",
    "宏图", "百汇", "尚品", "金诺", "艾美", "卓越", "东方", "新锐", "诚信", "万家", "星辰", "嘉宝",
    "晨曦", "天成", "博远", "云帆", "海川", "顺发",
)  # fmt: skip

CARRIERS = (
    ("中通快递", "ZTO", "78"), ("圆通速递", "YTO", "YT"), ("申通快递", "STO", "77"),
    ("韵达快递", "YUNDA", "43"), ("顺丰速运", "SF", "SF"), ("极兔速递", "JTEX", "JT"),
)  # fmt: skip

CATEGORIES = (
    Category(
        10166, "女装", "women's clothing", ("件", "piece"), "服饰",
        _pairs("女士 women's, 少女 girls', 大码女士 plus size women's"),
        _pairs("韩版 Korean style, 法式 French style, 复古 vintage, 气质 elegant, 甜美 sweet, 简约 simple"),
        _pairs("纯棉 cotton, 雪纺 chiffon, 真丝 silk, 针织 knitted, 亚麻 linen, 牛仔 denim, 羊毛 wool"),
        _pairs("宽松 loose, 修身 slim fit, 显瘦 slimming, 碎花 floral, 高腰 high waist, 长袖 long sleeve, 短袖 short sleeve"),
        ("S", "M", "L", "XL", "2XL"),
        _kinds("连衣裙 dress 35-160 350, 衬衫 shirt 25-90 220, T恤 T-shirt 12-45 180, 半身裙 skirt 25-95 280,"
               "牛仔裤 jeans 38-120 520, 毛衣 sweater 30-130 420, 风衣 trench coat 80-260 800,"
               "羽绒服 down jacket 120-420 900, 卫衣 hoodie 32-110 450, 西装外套 blazer 60-210 520,"
               "阔腿裤 wide leg trousers 28-95 400, 吊带背心 camisole 9-35 120, 睡衣套装 pyjama set 30-120 380"),
    ),
    Category(
        10165, "男装", "men's clothing", ("件", "piece"), "服饰",
        _pairs("男士 men's, 青年 young men's, 中老年 middle-aged men's"),
        _pairs("商务 business, 休闲 casual, 潮牌 streetwear, 工装 workwear, 美式 American style, 简约 simple"),
        _pairs("纯棉 cotton, 涤纶 polyester, 牛仔 denim, 冰丝 ice silk, 羊毛 wool, 灯芯绒 corduroy"),
        _pairs("宽松 loose, 修身 slim fit, 加绒 fleece lined, 速干 quick dry, 免烫 non-iron, 印花 printed"),
        ("M", "L", "XL", "2XL", "3XL"),
        _kinds("衬衫 shirt 28-110 260, T恤 T-shirt 15-55 210, 牛仔裤 jeans 42-130 620, 夹克 jacket 60-220 650,"
               "卫衣 hoodie 35-120 520, 休闲裤 casual trousers 35-110 450, 西装 suit 120-480 1100,"
               "羽绒服 down jacket 130-450 980, POLO衫 polo shirt 25-90 240, 短裤 shorts 18-60 230,"
               "毛衣 sweater 38-140 480, 马甲 vest 30-110 300, 内裤 boxer briefs 6-30 90"),
    ),
    Category(
        1813, "童装", "children's clothing", ("套", "set"), "童装",
        _pairs("男童 boys', 女童 girls', 宝宝 baby, 儿童 children's"),
        _pairs("卡通 cartoon, 洋气 stylish, 韩版 Korean style, 可爱 cute, 运动 sporty"),
        _pairs("纯棉 cotton, 纱布 gauze, 珊瑚绒 coral fleece, 针织 knitted, 牛仔 denim"),
        _pairs("加厚 thick, 透气 breathable, A类 skin-friendly, 长袖 long sleeve, 印花 printed"),
        ("90cm", "100cm", "110cm", "120cm", "130cm"),
        _kinds("连体衣 romper 15-65 160, 套装 clothing set 22-95 320, 连衣裙 dress 20-90 240, 外套 coat 35-140 420,"
               "T恤 T-shirt 9-35 130, 裤子 trousers 14-55 220, 睡衣 pyjamas 18-70 260, 羽绒服 down jacket 60-220 550,"
               "袜子 socks 3-15 50, 帽子 hat 6-30 80, 围兜 bib 4-20 60, 校服 school uniform 40-150 480"),
    ),
    Category(
        1038, "鞋靴", "shoes", ("双", "pair"), "鞋业",
        _pairs("女士 women's, 男士 men's, 儿童 children's, 情侣 couple's"),
        _pairs("休闲 casual, 英伦 British style, 韩版 Korean style, 运动 sporty, 复古 vintage"),
        _pairs("真皮 leather, 帆布 canvas, 网面 mesh, 麂皮 suede, EVA EVA, PU皮 PU leather"),
        _pairs("防滑 non-slip, 透气 breathable, 软底 soft sole, 厚底 thick sole, 增高 height increasing, 加绒 fleece lined"),
        ("36", "37", "38", "39", "40", "41", "42"),
        _kinds("运动鞋 sneakers 35-180 720, 帆布鞋 canvas shoes 22-80 600, 拖鞋 slippers 6-35 280, 凉鞋 sandals 20-95 420,"
               "马丁靴 Martin boots 60-220 1100, 雪地靴 snow boots 45-180 980, 高跟鞋 high heels 40-160 560,"
               "乐福鞋 loafers 38-140 580, 豆豆鞋 driving shoes 30-110 500, 雨鞋 rain boots 20-75 850,"
               "老爹鞋 chunky sneakers 45-170 850, 洞洞鞋 clogs 12-55 320"),
    ),
    Category(
        1042954, "箱包", "bags and luggage", ("个", "piece"), "箱包",
        _pairs("女士 women's, 男士 men's, 学生 student, 儿童 children's"),
        _pairs("简约 simple, 时尚 fashion, 复古 vintage, 商务 business, 日系 Japanese style"),
        _pairs("牛津布 oxford cloth, 帆布 canvas, 真皮 leather, PU皮 PU leather, 尼龙 nylon, ABS ABS"),
        _pairs("大容量 large capacity, 防水 waterproof, 轻便 lightweight, 多功能 multifunctional, 防盗 anti-theft"),
        (),
        _kinds("双肩包 backpack 25-160 650, 单肩包 shoulder bag 20-130 420, 手提包 handbag 28-180 520,"
               "斜挎包 crossbody bag 16-95 300, 拉杆箱 trolley suitcase 75-320 3200, 钱包 wallet 9-75 120,"
               "腰包 waist bag 10-55 180, 化妆包 cosmetic bag 6-45 150, 电脑包 laptop bag 25-120 480,"
               "帆布袋 tote bag 5-35 160, 书包 school bag 28-130 700, 旅行袋 travel bag 25-110 620"),
    ),
    Category(
        54, "饰品", "jewellery and accessories", ("个", "piece"), "饰品",
        _pairs("女士 women's, 男士 men's, 情侣 couple's"),
        _pairs("欧美 Western style, 韩版 Korean style, 轻奢 light luxury, 复古 vintage, 国风 Chinese style"),
        _pairs("925银 925 silver, 钛钢 titanium steel, 合金 alloy, 珍珠 pearl, 锆石 zircon, 铜镀金 gold plated copper"),
        _pairs("防过敏 hypoallergenic, 不掉色 colour-fast, 镶钻 rhinestone, 手工 handmade, 个性 unique"),
        (),
        _kinds("耳环 earrings 2-35 15, 项链 necklace 3-60 25, 手链 bracelet 3-50 22, 戒指 ring 2-45 12,"
               "发夹 hair clip 1-15 20, 发箍 headband 2-18 30, 胸针 brooch 3-28 20, 手表 watch 18-150 90,"
               "太阳镜 sunglasses 8-60 60, 围巾 scarf 9-70 180, 腰带 belt 8-65 200, 帽子 hat 8-50 110,"
               "脚链 anklet 2-25 15"),
    ),
    Category(
        96, "家居日用", "household goods", ("个", "piece"), "日用百货",
        _pairs("家用 household, 宿舍 dormitory, 客厅 living room, 浴室 bathroom"),
        _pairs("北欧 Nordic, 日式 Japanese style, 简约 simple, ins风 Instagram style"),
        _pairs("塑料 plastic, 不锈钢 stainless steel, 竹制 bamboo, 棉麻 cotton linen, 硅藻泥 diatomite, 陶瓷 ceramic"),
        _pairs("加厚 thick, 可折叠 foldable, 免打孔 no drilling, 防水 waterproof, 大号 large, 多层 multi-layer"),
        (),
        _kinds("收纳盒 storage box 5-45 420, 衣架 clothes hanger 2-15 80, 垃圾桶 waste bin 8-60 700,"
               "毛巾 towel 4-30 150, 地垫 floor mat 9-70 600, 抱枕 cushion 10-60 450, 窗帘 curtain 25-160 1200,"
               "床单四件套 bedding set 45-260 2200, 雨伞 umbrella 12-60 420, 置物架 shelf 15-95 1500,"
               "香薰机 aroma diffuser 20-120 480, 台灯 desk lamp 18-110 650, 挂钩 hook 1-12 40"),
    ),
    Category(
        1043472, "厨房用品", "kitchenware", ("个", "piece"), "厨具",
        _pairs("家用 household, 商用 commercial, 儿童 children's, 办公室 office"),
        _pairs("日式 Japanese style, 北欧 Nordic, 创意 creative, 简约 simple"),
        _pairs("304不锈钢 304 stainless steel, 陶瓷 ceramic, 玻璃 glass, 硅胶 silicone, 木质 wooden, 铸铁 cast iron"),
        _pairs("耐高温 heat resistant, 不粘 non-stick, 防烫 anti-scald, 密封 airtight, 带盖 with lid, 食品级 food grade"),
        (),
        _kinds("保温杯 thermos cup 15-90 380, 马克杯 mug 5-35 350, 饭盒 lunch box 9-65 420, 炒锅 wok 35-190 1800,"
               "菜刀 kitchen knife 12-110 350, 砧板 cutting board 10-75 900, 餐具套装 cutlery set 8-70 300,"
               "碗 bowl 3-28 260, 保鲜盒 food container 5-45 280, 水壶 water bottle 9-60 260,"
               "咖啡壶 coffee pot 22-140 650, 削皮器 peeler 2-15 60, 烘焙模具 baking mould 4-35 150"),
    ),
    Category(
        7, "数码配件", "phone and computer accessories", ("个", "piece"), "电子科技",
        _pairs("苹果 iPhone, 安卓 Android, 车载 car, 桌面 desktop, 通用 universal"),
        _pairs("简约 simple, 透明 clear, 商务 business, 卡通 cartoon, 电竞 gaming"),
        _pairs("液态硅胶 liquid silicone, 铝合金 aluminium alloy, TPU TPU, 编织 braided, 钢化玻璃 tempered glass, ABS ABS"),
        _pairs("快充 fast charging, 防摔 shockproof, 磁吸 magnetic, 无线 wireless, 降噪 noise cancelling, 可折叠 foldable"),
        (),
        _kinds("手机壳 phone case 2-30 40, 数据线 charging cable 2-25 45, 充电器 charger 8-60 90,"
               "蓝牙耳机 bluetooth earphones 18-160 120, 充电宝 power bank 25-120 260, 手机支架 phone holder 4-40 150,"
               "钢化膜 screen protector 1-15 30, 键盘 keyboard 25-190 750, 鼠标 mouse 9-95 130,"
               "蓝牙音箱 bluetooth speaker 22-180 420, 智能手表 smart watch 45-260 130, U盘 USB flash drive 9-70 20,"
               "平板保护套 tablet case 10-60 220"),
    ),
    Category(
        1813001, "玩具", "toys", ("个", "piece"), "玩具",
        _pairs("儿童 children's, 宝宝 baby, 男孩 boys', 女孩 girls', 亲子 family"),
        _pairs("益智 educational, 卡通 cartoon, 国风 Chinese style, 创意 creative"),
        _pairs("木制 wooden, 毛绒 plush, ABS塑料 ABS plastic, 硅胶 silicone, 合金 alloy"),
        _pairs("遥控 remote control, 电动 electric, 大颗粒 large particle, 会唱歌 singing, 安全无毒 non-toxic, 可水洗 washable"),
        (),
        _kinds("积木 building blocks 9-120 650, 毛绒公仔 plush doll 6-70 300, 遥控车 remote control car 25-160 800,"
               "拼图 jigsaw puzzle 4-45 350, 泡泡机 bubble machine 6-40 260, 水枪 water gun 5-45 320,"
               "魔方 magic cube 3-30 90, 娃娃屋 doll house 30-190 1600, 滑板车 kick scooter 45-190 2800,"
               "飞行棋 board game 5-40 400, 磁力片 magnetic tiles 15-130 700, 捏捏乐 squishy toy 1-12 40"),
    ),
    Category(
        97, "宠物用品", "pet supplies", ("个", "piece"), "宠物用品",
        _pairs("猫咪 cat, 狗狗 dog, 宠物 pet, 小型犬 small dog"),
        _pairs("可爱 cute, 卡通 cartoon, 北欧 Nordic, 简约 simple"),
        _pairs("剑麻 sisal, 不锈钢 stainless steel, 毛绒 plush, 尼龙 nylon, 塑料 plastic, 木质 wooden"),
        _pairs("耐咬 bite resistant, 可拆洗 removable and washable, 防滑 non-slip, 加厚 thick, 自动 automatic, 大号 large"),
        (),
        _kinds("猫砂盆 litter box 18-120 1500, 猫爬架 cat tree 45-260 4200, 狗窝 dog bed 20-130 900, 牵引绳 leash 6-45 180,"
               "宠物衣服 pet clothes 8-50 150, 饮水机 water fountain 25-130 850, 喂食器 feeder 20-180 1100,"
               "宠物玩具 pet toy 2-25 90, 宠物背包 pet backpack 35-160 950, 梳毛刷 grooming brush 5-38 130,"
               "猫抓板 scratching board 6-45 600, 项圈 collar 3-28 60"),
    ),
    Category(
        18, "运动户外", "sports and outdoors", ("个", "piece"), "体育用品",
        _pairs("男女通用 unisex, 户外 outdoor, 健身 fitness, 儿童 children's, 专业 professional"),
        _pairs("便携 portable, 军绿 army style, 简约 simple, 竞技 competition"),
        _pairs("TPE TPE, 碳纤维 carbon fibre, 铝合金 aluminium alloy, 牛津布 oxford cloth, 橡胶 rubber, 尼龙 nylon"),
        _pairs("防水 waterproof, 加厚 thick, 可折叠 foldable, 防滑 non-slip, 超轻 ultralight, 速干 quick dry"),
        (),
        _kinds("瑜伽垫 yoga mat 18-110 1200, 哑铃 dumbbell 15-140 3000, 跳绳 skipping rope 4-35 160, 帐篷 tent 60-360 3200,"
               "睡袋 sleeping bag 40-190 1300, 登山杖 trekking pole 18-95 350, 泳镜 swimming goggles 8-60 110,"
               "篮球 basketball 25-130 650, 羽毛球拍 badminton racket 28-180 320, 护膝 knee pads 6-50 150,"
               "折叠椅 folding chair 25-150 2200, 运动水杯 sports bottle 9-55 220, 钓鱼竿 fishing rod 25-220 380"),
    ),
)  # fmt: skip

# What the words of a category do not fit: a phone case does not charge, a towel is not of plastic.
_FITTING_TEXT = """
手机壳 | 液态硅胶 liquid silicone, TPU TPU, 玻璃 glass, PU皮 PU leather | 防摔 shockproof, 磁吸 magnetic, 超薄 ultra-thin, 全包 full cover
数据线 | 编织 braided, TPE TPE, 液态硅胶 liquid silicone | 快充 fast charging, 加长 extra long, 三合一 three-in-one
充电器 | ABS ABS, PC阻燃 flame-retardant PC | 快充 fast charging, 多口 multi-port, 便携 portable
充电宝 | ABS ABS, 铝合金 aluminium alloy | 快充 fast charging, 大容量 large capacity, 磁吸 magnetic, 超薄 ultra-thin
蓝牙耳机 | ABS ABS, 硅胶 silicone | 无线 wireless, 降噪 noise cancelling, 长续航 long battery life
蓝牙音箱 | ABS ABS, 布艺 fabric, 木质 wooden | 无线 wireless, 防水 waterproof, 重低音 heavy bass
钢化膜 | 钢化玻璃 tempered glass | 防窥 anti-peep, 防指纹 anti-fingerprint, 高清 high definition
键盘 | ABS ABS, 铝合金 aluminium alloy | 无线 wireless, 机械 mechanical, 静音 silent
鼠标 | ABS ABS | 无线 wireless, 静音 silent, 可充电 rechargeable
智能手表 | 铝合金 aluminium alloy, 液态硅胶 liquid silicone | 防水 waterproof, 测心率 heart rate, 长续航 long battery life
U盘 | 金属 metal, ABS ABS | 高速 high speed, 大容量 large capacity, 双接口 dual interface
平板保护套 | PU皮 PU leather, 液态硅胶 liquid silicone | 防摔 shockproof, 可折叠 foldable, 带笔槽 with pen slot
毛巾 | 纯棉 cotton, 竹纤维 bamboo fibre, 珊瑚绒 coral fleece | 加厚 thick, 吸水 absorbent, 速干 quick dry
地垫 | 硅藻泥 diatomite, 丝圈 loop pile, 珊瑚绒 coral fleece | 防滑 non-slip, 吸水 absorbent, 可水洗 washable
抱枕 | 棉麻 cotton linen, 天鹅绒 velvet, 毛绒 plush | 可拆洗 removable and washable, 印花 printed, 大号 large
窗帘 | 棉麻 cotton linen, 雪尼尔 chenille, 涤纶 polyester | 遮光 blackout, 隔热 heat insulating, 免打孔 no drilling
床单四件套 | 纯棉 cotton, 天丝 lyocell, 水洗棉 washed cotton | 亲肤 skin-friendly, 加厚 thick, 印花 printed
雨伞 | 碰击布 pongee, 黑胶 black coating | 自动 automatic, 防晒 sun-proof, 加大 extra large
香薰机 | ABS ABS, 木纹 wood grain, 玻璃 glass | 静音 silent, 七彩灯 colour light, 大容量 large capacity
台灯 | 铝合金 aluminium alloy, ABS ABS | 护眼 eye protection, 可充电 rechargeable, 可折叠 foldable
菜刀 | 304不锈钢 304 stainless steel, 高碳钢 high carbon steel | 锋利 sharp, 锻打 hand-forged, 防滑 non-slip
炒锅 | 铸铁 cast iron, 304不锈钢 304 stainless steel, 麦饭石 maifan stone | 不粘 non-stick, 带盖 with lid, 少油烟 low smoke
砧板 | 木质 wooden, 竹制 bamboo, 304不锈钢 304 stainless steel | 抗菌 antibacterial, 防滑 non-slip, 双面 double-sided
围巾 | 羊绒 cashmere, 真丝 silk, 棉麻 cotton linen | 加厚 thick, 格子 plaid, 百搭 versatile
腰带 | 真皮 leather, PU皮 PU leather, 帆布 canvas | 自动扣 automatic buckle, 百搭 versatile, 加长 extra long
帽子 | 纯棉 cotton, 羊毛 wool, 草编 straw | 防晒 sun-proof, 可调节 adjustable, 保暖 warm
太阳镜 | TR90 TR90, 金属 metal, PC PC | 偏光 polarized, 防紫外线 UV protection, 大框 oversized
手表 | 不锈钢 stainless steel, 合金 alloy, 真皮 leather | 防水 waterproof, 夜光 luminous, 石英 quartz
毛绒公仔 | 毛绒 plush, 羽绒棉 down cotton | 可水洗 washable, 会唱歌 singing, 大号 large
拼图 | 木制 wooden, 纸质 paper | 1000片 1000 pieces, 大颗粒 large particle, 磁性 magnetic
遥控车 | 合金 alloy, ABS塑料 ABS plastic | 遥控 remote control, 可充电 rechargeable, 四驱 four-wheel drive
宠物衣服 | 纯棉 cotton, 摇粒绒 polar fleece | 保暖 warm, 防水 waterproof, 印花 printed
狗窝 | 毛绒 plush, 牛津布 oxford cloth | 可拆洗 removable and washable, 保暖 warm, 大号 large
帐篷 | 牛津布 oxford cloth, 涤纶 polyester | 防水 waterproof, 自动 automatic, 加厚 thick
睡袋 | 羽绒 down, 涤纶 polyester | 保暖 warm, 超轻 ultralight, 可拼接 can be joined
篮球 | PU皮 PU leather, 橡胶 rubber | 耐磨 wear-resistant, 防滑 non-slip, 7号 size 7
瑜伽垫 | TPE TPE, NBR NBR, 天然橡胶 natural rubber | 加厚 thick, 防滑 non-slip, 加宽 extra wide
哑铃 | 铸铁 cast iron, 橡胶 rubber | 可调节 adjustable, 防滑 non-slip, 静音 silent
"""
FITTING = {
    name.strip(): (_pairs(materials), _pairs(features))
    for name, materials, features in (
        line.split("|") for line in _FITTING_TEXT.strip().splitlines()
    )
}
